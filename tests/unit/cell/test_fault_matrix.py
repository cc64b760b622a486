"""The stored matrix is what a run gives, and it says of each layer what the design says."""

import pytest

from kvfence.cell.fault_matrix import COLUMNS, FAULTS, outcome
from kvfence.core.rules import Layer
from support.matrix_page import stored, verdict

ROWS = {row["fault"]: {cell["column"]: cell for cell in row["cells"]} for row in stored()["rows"]}
LONG = {"forged reference", "crash at each step, push", "crash at each step, pull"}
"""Seconds a cell: `make matrix` runs them."""
HARMLESS = {"nothing", "duplicated done", "crash at each step, push", "clock set back"}
NOT_STOPPED = {"bit flip after the seal": "wrong", "digest collision, stale page": "text"}


def run_again():
    """Each fault with no layer, with all, and with one of the layers in turn."""
    layers = [str(layer) for layer in Layer]
    for at, fault in enumerate(FAULTS):
        if fault.name not in LONG:
            for column in ("none", layers[at % len(layers)], "all"):
                yield pytest.param(fault, column, id=f"{fault.name}, {column}")


@pytest.mark.parametrize(("fault", "column"), list(run_again()))
def test_what_is_stored_is_what_a_run_gives(fault, column):
    """Same fault, same layers, same documents: the same answer, the same endings, as many states."""
    cell = ROWS[fault.name][column]
    seen = outcome(fault, column)
    assert (seen.foreign, seen.wrong, list(seen.ended)) == (cell["foreign"], cell["wrong"], cell["ended"])


def test_no_row_and_no_cell_is_missing():
    """Every fault with every column."""
    assert list(ROWS) == [fault.name for fault in FAULTS]
    assert all(list(cells) == list(COLUMNS) for cells in ROWS.values())


def test_every_fault_but_these_harms_somebody_where_no_layer_is_on():
    """A row that shows nothing would say nothing about the layers."""
    assert {name for name, cells in ROWS.items() if not verdict(cells["none"])} == HARMLESS


def test_all_layers_together_stop_every_fault_but_two():
    """What the fence cannot see, the page says."""
    assert {name: verdict(cells["all"]) for name, cells in ROWS.items() if verdict(cells["all"])} == NOT_STOPPED


@pytest.mark.parametrize("layer", Layer)
def test_every_layer_alone_keeps_somebodys_text_out(layer):
    """There is a fault by which text is read without it, and none with nothing but it."""
    assert any(verdict(cells["none"]) == "text" != verdict(cells[layer]) for cells in ROWS.values())


def test_what_lies_in_a_page_is_told_by_the_digest_alone():
    """Bytes that changed on the way are stopped by no other layer."""
    for name in ("page of another room", "stale page", "bit flip on the way", "swapped pages"):
        assert [column for column in COLUMNS if not verdict(ROWS[name][column])] == ["I2-digest", "all"]
