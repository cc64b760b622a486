"""A campaign's record in an SQLite file, so that one that was cut off goes on: nothing lost, nothing asked twice.

A request is written down before it is sent, and again when it has ended. One that was sent and never ended stays in
the history as *cut off*: its markers may be in the endpoint's cache, it may have been paid for, and it is no answer.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self

import msgspec

from kvfence.errors import TargetError, UsageError
from kvfence.probe.campaign import Campaign
from kvfence.probe.dialects.openai import CHAT
from kvfence.probe.limits import Cost
from kvfence.probe.record import CUT_OFF, Exchange, History
from kvfence.probe.sqlite_file import DATABASE_ERRORS, open_file
from kvfence.probe.target import Bounds

_APPLICATION = 0x6B766A31
_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (one INTEGER PRIMARY KEY CHECK (one = 1), value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS request (
    number INTEGER PRIMARY KEY, round INTEGER NOT NULL, sent BLOB NOT NULL, ended BLOB
);
"""


class About(msgspec.Struct, frozen=True):
    """What must be the same when a campaign goes on."""

    url: str
    """As it may be printed."""
    model: str
    campaign: Campaign
    bounds: Bounds
    dialect: str = CHAT.described


class Recorder(Protocol):
    """Where a campaign writes down what it does."""

    def begin(self, about: About) -> list[History]:
        """The rounds that were made before; the last one may have been cut off."""

    def sent(self, round_index: int, exchange: Exchange) -> None:
        """A request is about to be sent: `exchange` has everything but its answer."""

    def ended(self, exchange: Exchange) -> None:
        """It has ended."""


class NoJournal:
    """A campaign that nobody wants to go on with."""

    def begin(self, about: About) -> list[History]:
        """Nothing was made before."""
        del about
        return []

    def sent(self, round_index: int, exchange: Exchange) -> None:
        """Not written down."""

    def ended(self, exchange: Exchange) -> None:
        """Not written down."""


class Journal:
    """One campaign's file; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open it, or make it. Raises `UsageError` where it is another kind of file, `TargetError` where it cannot."""
        self.path = path
        self._database = open_file(path, application=_APPLICATION, schema=_SCHEMA, what="a journal of kvfence's probe")
        self._database.execute("PRAGMA synchronous = FULL")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @property
    def about(self) -> About | None:
        """Which campaign it is of; None for a new one."""
        row = self._run("SELECT value FROM about").fetchone()
        try:
            return msgspec.json.decode(row[0], type=About) if row else None
        except msgspec.DecodeError as error:
            raise UsageError(f"{self.path} is a journal of another version of kvfence; begin a new one") from error

    def begin(self, about: About) -> list[History]:
        """Take this campaign for the file's, and return what was made before.

        Raises:
            UsageError: the file is of another campaign.
            TargetError: it cannot be read or written.
        """
        before = self.about
        if before is None:
            self._run("INSERT INTO about VALUES (1, ?)", (msgspec.json.encode(about),))
            return []
        if before != about:
            raise UsageError(f"{self.path} is of another campaign ({_difference(before, about)}); name another file")
        return self._rounds()

    def spent(self) -> list[tuple[Cost, int]]:
        """What each request that was made has cost, and in how many tries."""
        return [(one.spent, one.tries) for exchanges in self._rounds() for one in exchanges]

    def sent(self, round_index: int, exchange: Exchange) -> None:
        """A request is about to be sent. Raises `TargetError` where that cannot be written down."""
        row = (exchange.recipe.request, round_index, msgspec.json.encode(exchange))
        self._run("INSERT INTO request (number, round, sent) VALUES (?, ?, ?)", row)

    def ended(self, exchange: Exchange) -> None:
        """It has ended, in whatever way. Raises `TargetError` where that cannot be written down."""
        row = (msgspec.json.encode(exchange), exchange.recipe.request)
        self._run("UPDATE request SET ended = ? WHERE number = ?", row)

    def _run(self, statement: str, values: Iterable[object] = ()) -> sqlite3.Cursor:
        try:
            return self._database.execute(statement, tuple(values))
        except DATABASE_ERRORS as error:
            raise TargetError(
                f"{self.path}: the journal cannot be kept: {error}; nothing is sent without it"
            ) from error

    def _rounds(self) -> list[History]:
        rows = self._run("SELECT round, sent, ended FROM request ORDER BY number")
        rounds: dict[int, list[Exchange]] = {}
        try:
            for round_index, sent, ended in rows:
                rounds.setdefault(round_index, []).append(_read(ended) if ended else cut_off(_read(sent)))
        except (msgspec.DecodeError, *DATABASE_ERRORS) as error:
            raise UsageError(f"{self.path} cannot be read any more: {error}; begin a new campaign") from error
        return [tuple(exchanges) for exchanges in rounds.values()]


def _read(content: bytes) -> Exchange:
    return msgspec.json.decode(content, type=Exchange)


def cut_off(exchange: Exchange) -> Exchange:
    """One that was sent and not waited for, as it stands in the history."""
    step = replace(exchange.step, part=CUT_OFF)
    return replace(exchange, step=step, detail="the probe was stopped before its answer came")


def seed_of(given: int | None, recorder: Recorder) -> int:
    """The one that is asked for, else the one of the campaign that goes on, else a new one."""
    if given is not None:
        return given
    before = recorder.about if isinstance(recorder, Journal) else None
    return before.campaign.seed if before else secrets.randbits(48)


def _difference(before: About, now: About) -> str:
    for name in ("url", "model", "dialect"):
        if getattr(before, name) != getattr(now, name):
            return f"{getattr(before, name)}, not {getattr(now, name)}"
    if before.campaign.seed != now.campaign.seed:
        return f"seed {before.campaign.seed}, not {now.campaign.seed}"
    if before.campaign.scenarios != now.campaign.scenarios:
        return f"scenarios {', '.join(before.campaign.scenarios)}, not {', '.join(now.campaign.scenarios)}"
    return "other bounds or lengths"
