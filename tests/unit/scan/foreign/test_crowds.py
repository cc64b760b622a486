"""The join and its crowds, made of arrays, beside the same said in sets of a few windows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.scan.foreign.index import POSTING, Index, shelves_of
from kvfence.scan.foreign.meeting import Meeting, meetings
from kvfence.scan.foreign.owners import EXCHANGE, NOBODY, Exchanges
from kvfence.scan.foreign.pairs import ANSWERED_PER_ASKED, MET, pairs_of
from kvfence.scan.foreign.sieve import read_sieve, write_sieve
from kvfence.scan.foreign.windows import ANSWER_STEP

EXCHANGES = 12
WINDOWS = 3
LONG = 100


@dataclass(frozen=True)
class Log:
    """Whose each exchange is and when it began; which windows stand in which answers, and who has them."""

    owners: list[int]
    began: list[int]
    postings: list[list[tuple[int, int]]]
    """Of each window, the answers and the bytes of them where it begins."""
    met: list[tuple[int, int, bool]]
    """A window, an exchange that has it, and whether in its prompt."""

    def table(self) -> Exchanges:
        table = np.zeros(EXCHANGES, EXCHANGE)
        table["place"], table["owner"], table["began"] = np.arange(EXCHANGES), self.owners, self.began
        table["end"] = table["began"] + 2
        return table

    def is_before(self, one: int, other: int) -> bool:
        return (self.began[one], one) < (self.began[other], other)


postings_of_windows = st.lists(
    st.sets(st.tuples(st.integers(0, EXCHANGES - 1), st.integers(0, 3)), max_size=3), min_size=WINDOWS, max_size=WINDOWS
)
logs = st.builds(
    Log,
    owners=st.lists(st.integers(NOBODY, 7), min_size=EXCHANGES, max_size=EXCHANGES),
    began=st.lists(st.integers(0, 8), min_size=EXCHANGES, max_size=EXCHANGES),
    postings=postings_of_windows.map(
        lambda some: [sorted((answer, at * ANSWER_STEP) for answer, at in windows) for windows in some]
    ),
    met=st.lists(
        st.tuples(st.integers(0, WINDOWS - 1), st.integers(0, EXCHANGES - 1), st.booleans()),
        unique=True,
        min_size=20,
        max_size=50,
    ),
)


@settings(max_examples=100, deadline=None)
@given(logs, st.integers(1, 3))
def test_what_the_arrays_say_is_what_sets_say(log: Log, most: int):
    """The same answers, with the same common windows, the same sources as far as all are taken, and own requests."""
    told = {one.answer: one for one in met_by_arrays(log, most)}
    expected = met_by_sets(log, most)
    assert told.keys() == expected.keys()
    for answer, (common, sources, own) in expected.items():
        assert {*told[answer].common} == common
        assert {*told[answer].sources} <= sources
        assert bool(told[answer].sources) == bool(sources)
        assert {*told[answer].own} <= own
        assert bool(told[answer].own) == bool(own)


def met_by_arrays(log: Log, most: int) -> list[Meeting]:
    """As a scan does it, but for the hashes."""
    begins = np.cumsum([0, *(len(windows) for windows in log.postings)])
    postings = np.array([one for windows in log.postings for one in windows], POSTING)
    met = np.array(log.met, MET)
    with TemporaryDirectory() as made:
        folder = Path(made)
        hashes = np.arange(len(log.postings), dtype=np.uint64)
        write_sieve(hashes, folder / "sieve")
        index = Index(hashes, begins, postings, read_sieve(folder / "sieve"), shelves_of(hashes))
        return [*meetings(pairs_of(met, index, log.table(), most), log.table(), most)]


def met_by_sets(log: Log, most: int) -> dict[int, tuple[set[int], set[int], set[int]]]:
    """Of each answer that others have windows of: the common ones, who has one of the rest, and own prompts near it."""
    told = {}
    for answer in range(EXCHANGES):
        windows = {at: number for number, of in enumerate(log.postings) for whose, at in of if whose == answer}
        by_window = {at: [] for at in sorted({at for of in log.postings for whose, at in of if whose == answer})}
        for at in by_window:
            numbers = [number for number, of in enumerate(log.postings) if (answer, at) in of]
            by_window[at] = [
                (exchange, in_prompt)
                for number, exchange, in_prompt in log.met
                if number in numbers and exchange != answer and not is_own(log, exchange, answer)
            ]
        common = {at for at in windows if is_common(log, by_window, at, most)}
        explained = {at for at in by_window if stands_in_own(log, answer, at)}
        sources = {
            exchange
            for at, some in by_window.items()
            if at not in common | explained
            for exchange, in_prompt in some
            if not is_late(log, exchange, answer, in_prompt=in_prompt)
        }
        if sources:
            told[answer] = (common, sources, own_prompts(log, answer, by_window, common | explained))
    return told


def own_prompts(log: Log, answer: int, by_window: dict[int, list[tuple[int, bool]]], known: set[int]) -> set[int]:
    """Those of the answer's owner, before it, that have a window which others have as well, or one beside it."""
    near = {
        at + step
        for at, some in by_window.items()
        if at not in known
        and any(not is_late(log, exchange, answer, in_prompt=in_prompt) for exchange, in_prompt in some)
        for step in (-ANSWER_STEP, 0, ANSWER_STEP)
    }
    numbers = [number for number, of in enumerate(log.postings) if any((answer, at) in of for at in near)]
    return {
        exchange
        for number, exchange, in_prompt in log.met
        if number in numbers and in_prompt and is_own(log, exchange, answer) and log.is_before(exchange, answer)
    }


def stands_in_own(log: Log, answer: int, at: int) -> bool:
    """Whether one prompt of the owner, before the answer, or its own has the window, or those on both sides of it."""
    return any(
        has(log, exchange, answer, at)
        or (has(log, exchange, answer, at - ANSWER_STEP) and has(log, exchange, answer, at + ANSWER_STEP))
        for exchange in range(EXCHANGES)
        if exchange == answer or (is_own(log, exchange, answer) and log.is_before(exchange, answer))
    )


def has(log: Log, exchange: int, answer: int, at: int) -> bool:
    return any((number, exchange, True) in log.met for number, of in enumerate(log.postings) if (answer, at) in of)


def is_own(log: Log, exchange: int, answer: int) -> bool:
    return log.owners[exchange] == log.owners[answer] != NOBODY


def is_late(log: Log, exchange: int, answer: int, *, in_prompt: bool) -> bool:
    return log.began[exchange] >= log.began[answer] + 2 if in_prompt else not log.is_before(exchange, answer)


def is_common(log: Log, by_window: dict[int, list[tuple[int, bool]]], at: int, most: int) -> bool:
    """By the owners who are known; 64 that are not are more than there are here."""

    def owners(there: int, *, in_prompt: bool) -> set[int]:
        return {
            log.owners[one]
            for one, is_prompt in by_window.get(there, [])
            if is_prompt == in_prompt and log.owners[one] != NOBODY
        }

    near = (-ANSWER_STEP, ANSWER_STEP)
    if owners(at, in_prompt=True) and any(
        len(owners(at, in_prompt=True) | owners(at + step, in_prompt=True)) > most for step in near
    ):
        return True
    here = owners(at, in_prompt=False)
    answered = max(len(here | owners(at + step, in_prompt=False)) for step in near) if here else 0
    asked = [log.began[one] for step in (*near, 0) for one, in_prompt in by_window.get(at + step, []) if in_prompt]
    first = min((log.began[one] for one, in_prompt in by_window.get(at, []) if not in_prompt), default=LONG)
    return answered > (ANSWERED_PER_ASKED * most if min(asked, default=LONG) <= first else most)
