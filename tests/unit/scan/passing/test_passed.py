"""The same rows from every engine, whatever dies on the way."""

from __future__ import annotations

import multiprocessing
import resource
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.errors import TargetError, UnsupportedError
from kvfence.scan.passing.engine import InThisProcess
from kvfence.scan.passing.passed import passed
from kvfence.scan.passing.pool import Pool
from kvfence.scan.passing.units import units_of
from kvfence.scan.reading.inputs import sources_of
from support.scan_passes import Lengths, lines_of_log


@pytest.fixture
def units(tmp_path):
    (tmp_path / "a.jsonl").write_text(lines_of_log(200))
    (tmp_path / "b.jsonl").write_text("{\n" + lines_of_log(40))
    found = units_of(sources_of([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]), unit_bytes=4000)
    assert len(found) > 5
    return found


def rows(done):
    return [tuple(row.values()) for batch in done.batches("lengths") for row in batch.to_pylist()], list(done.unread())


@pytest.fixture
def expected(units, tmp_path):
    (tmp_path / "plain").mkdir()
    return rows(passed([Lengths()], units, engine=InThisProcess(), folder=tmp_path / "plain"))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_all_requests_come_in_their_order_and_what_cannot_be_read_beside_them(expected):
    found, unread = expected
    assert len(found) == 240
    assert [offset for offset, _ in found[:200]] == sorted(offset for offset, _ in found[:200])
    assert [(one.source, one.line) for one in unread] == [(1, 1)]


def test_a_pool_gives_the_same_rows_where_a_worker_is_killed(units, expected, folder, tmp_path):
    done = passed([Lengths(dies_once=tmp_path / "died")], units, engine=Pool(2), folder=folder)
    assert (tmp_path / "died").exists()
    assert rows(done) == expected


def test_workers_that_always_die_end_in_one_clear_line_and_leave_nobody_behind(units, folder):
    with pytest.raises(UnsupportedError, match=r"a\.jsonl.*died 3 times"):
        passed([Lengths(dies_always=True)], units, engine=Pool(2), folder=folder)
    assert not multiprocessing.active_children()


def test_what_is_done_is_not_done_again(units, expected, folder):
    class Half:
        def run(self, job, units, folder):
            yield from list(InThisProcess().run(job, units[: len(units) // 2], folder))
            raise KeyboardInterrupt

    class Noted:
        def run(self, job, units, folder):
            ran.extend(unit.number for unit in units)
            yield from InThisProcess().run(job, units, folder)

    ran, told = [], []
    with pytest.raises(KeyboardInterrupt):
        passed([Lengths()], units, engine=Half(), folder=folder)
    done = passed([Lengths()], units, engine=Noted(), folder=folder, on_done=lambda unit: told.append(unit.number))
    assert ran == [unit.number for unit in units[len(units) // 2 :]]
    assert sorted(told) == [unit.number for unit in units]
    assert rows(done) == expected


def test_a_full_disk_is_one_clear_line_and_leaves_no_half_of_a_unit(units, folder):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        with pytest.raises(TargetError, match=r"no room.*--work"):
            passed([Lengths()], units, engine=InThisProcess(), folder=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert list(folder.iterdir()) == []


@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6), unit_bytes=st.integers(1, 3000))
def test_units_are_all_of_the_inputs_however_they_are_cut(tmp_path_factory, sizes, unit_bytes):
    """Each request once, in the order of the inputs; small files together."""
    folder = tmp_path_factory.mktemp("units")
    for number, size in enumerate(sizes):
        (folder / f"{number}.jsonl").write_text(lines_of_log(size))
    found = units_of(sources_of([str(folder)]), unit_bytes=unit_bytes)
    (folder / "work").mkdir()
    done = passed([Lengths()], found, engine=InThisProcess(), folder=folder / "work")
    assert [offset for offset, _ in rows(done)[0]] == [at for size in sizes for at in _begins(lines_of_log(size))]


def _begins(text):
    lines = text.splitlines(keepends=True)
    return [sum(map(len, lines[:at])) for at in range(len(lines))]
