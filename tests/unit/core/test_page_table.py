"""Sealing, and that nothing else leads to a page table (I2, I5)."""

import dataclasses

import pytest

from kvfence.core.invariants import Check, Mismatch, Violation
from kvfence.core.manifest import Expectation
from kvfence.core.page_table import PageTable, Seal, page_table, seal
from kvfence.core.rules import FENCED, Layer, only
from support.rooms_values import LAYOUT, PAGE, digest, leases, manifest

HELD = leases(1, "A", 3)
OWN = leases(1, "A", 2, first=3)
DIGESTS = tuple(digest(page) for page in range(3))
RIGHT = manifest(HELD, digests=DIGESTS)
ONE_PAGE = manifest(HELD.first(1), tokens=1, digests=DIGESTS[:1])
EXPECTED = Expectation(leases=HELD, prompt_tokens=3 * PAGE, layout=LAYOUT, leases_are_echoed=True)


def test_a_page_table_has_the_sealed_pages_then_the_rooms_own():
    """In order; readable is what was filled, not what was reserved."""
    table = page_table(seal(RIGHT, EXPECTED, DIGESTS, FENCED), OWN)
    assert table.pages == (0, 1, 2, 3, 4)
    assert table.readable_tokens == 3 * PAGE


def test_the_seal_says_which_checks_were_made():
    """The positive record: those of I2 that the rules have on, none under the historical rules."""
    for layers in ((), (Layer.COUNT,), (Layer.DIGEST,), tuple(Layer)):
        checks = seal(RIGHT, EXPECTED, DIGESTS, only(*layers)).checks
        assert checks == {Layer.COUNT, Layer.DIGEST} & set(layers)


@pytest.mark.parametrize(
    ("layers", "outcome"),
    [
        ((Layer.COUNT,), Check.COUNT),
        ((Layer.DIGEST,), Check.DIGEST),
        ((Layer.CLEAN_PAGES,), 1),
        ((), 3 * PAGE),
    ],
    ids=["count", "digest", "clean pages", "none"],
)
def test_one_page_of_three_is_a_mismatch_or_as_readable_as_it_is_filled(layers, outcome):
    """The incident at the seal: refused by either half of I2, cut to one token by I5, read whole without them."""
    sealed = seal(ONE_PAGE, EXPECTED, DIGESTS, only(*layers))
    assert (sealed.check if isinstance(sealed, Mismatch) else sealed.readable_tokens) == outcome


def test_no_digests_taken_is_no_match():
    """Where digests are asked for, not looking is not passing."""
    assert seal(RIGHT, EXPECTED, None, only(Layer.DIGEST)).check is Check.DIGEST


def test_a_seal_does_not_carry_another_rooms_pages():
    """The pages behind the prompt are the same room's."""
    sealed = seal(RIGHT, EXPECTED, DIGESTS, FENCED)
    with pytest.raises(Violation, match="I2-binding"):
        page_table(sealed, leases(2, "A", 2, first=3))


@pytest.mark.parametrize(
    "forge",
    [
        lambda: Seal(HELD, 3 * PAGE, frozenset(Layer), object()),
        lambda: PageTable(HELD.pages, 3 * PAGE, object()),
        lambda: PageTable(HELD.pages, 3 * PAGE, None),
    ],
)
def test_neither_can_be_made_by_hand(forge):
    """Only the functions that checked can make them."""
    with pytest.raises(Violation, match="forged-value"):
        forge()


def test_neither_can_be_stretched():
    """A proof for one length does not become a proof for another."""
    sealed = seal(RIGHT, EXPECTED, DIGESTS, FENCED)
    for proof in (sealed, page_table(sealed, OWN)):
        with pytest.raises((TypeError, ValueError)):
            dataclasses.replace(proof, readable_tokens=99)
        with pytest.raises(dataclasses.FrozenInstanceError):
            proof.readable_tokens = 99
