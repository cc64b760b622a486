"""The registry as an SQLite file: one transaction a prompt, on disk before the prompt is sent.

It is in SQLite's rollback mode and not in WAL: a file that is shared is copied, mailed and put on network drives, and
in this mode it is one file whenever nobody writes.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Self

from kvfence.errors import TargetError
from kvfence.findings.origin import CampaignKept, Origin
from kvfence.probe.markers import pieces_in
from kvfence.probe.registry import statements as sql
from kvfence.probe.registry.pieces import piece_number, piece_numbers
from kvfence.probe.registry.planted import KnownCampaign, PlantedPrompt, Remembered
from kvfence.probe.sqlite_file import BUSY_S, DATABASE_ERRORS, open_file, open_to_read, transaction

WHAT = "a registry of kvfence's markers"


class RegistryFile:
    """One registry; a context manager, for one thread at a time."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        read_only: bool = False,
        busy_s: float = BUSY_S,
    ) -> None:
        """Open it, or make it; `read_only`: it must be there, and is not changed.

        Args:
            path: Where it is.
            clock: Seconds since 1970.
            read_only: For a file that is only looked at.
            busy_s: How long to wait for another program that writes to it.

        Raises:
            UsageError: it is another kind of file, or of a newer version.
            TargetError: it cannot be read, or not written.
        """
        self.path = path
        self._clock = clock
        if read_only:
            self._database = open_to_read(
                path, application=sql.APPLICATION, what=WHAT, version=sql.VERSION, busy_s=busy_s
            )
        else:
            self._database = open_file(
                path, application=sql.APPLICATION, schema=sql.SCHEMA, what=WHAT, version=sql.VERSION, busy_s=busy_s
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def now_ms(self) -> int:
        """The time that is noted for what is planted now."""
        return int(self._clock() * 1000)

    def begin(self, campaign: KnownCampaign) -> None:
        """A campaign begins, or goes on. Raises `TargetError`."""
        with self._writing():
            self._database.execute(sql.CAMPAIGN, (campaign.id, campaign.seed, campaign.url, campaign.model))

    def plant(self, prompt: PlantedPrompt) -> None:
        """Remember a prompt's markers; they are on disk when this returns. Raises `TargetError`."""
        self.plant_all((prompt,))

    def plant_all(self, prompts: Iterable[PlantedPrompt], campaigns: Iterable[KnownCampaign] = ()) -> None:
        """Remember many prompts, all or none; those that are known already stay as they are. Raises `TargetError`."""
        with self._writing():
            for campaign in campaigns:
                self._database.execute(sql.CAMPAIGN, (campaign.id, campaign.seed, campaign.url, campaign.model))
            pieces: list[tuple[int, int]] = []
            for prompt in prompts:
                number = prompt.id
                row = (prompt.campaign, prompt.tenant, prompt.request, prompt.tokens, prompt.planted_ms)
                self._database.execute(sql.PROMPT, (number, *row, " ".join(prompt.markers)))
                pieces += ((piece, number) for text in prompt.markers for piece in piece_numbers(text))
            self._database.executemany(sql.PIECE, sorted(pieces))  # in the order of the index: each page of it once

    def requests_of(self, campaign: str) -> frozenset[int]:
        """The numbers of the requests that are known of a campaign."""
        rows = self._read(sql.REQUESTS, (campaign,))
        return frozenset(request for (request,) in rows)

    def whose(self, pieces: frozenset[str]) -> tuple[Remembered, ...]:
        """The markers that have at least one of these pieces, each as often as it was planted, the latest last."""
        numbers = json.dumps(sorted(map(piece_number, pieces)))
        found = (_remembered(row, pieces) for row in self._read(sql.WHOSE, (numbers,)))
        return tuple(dict.fromkeys(chain.from_iterable(found)))

    def campaigns(self) -> Iterator[KnownCampaign]:
        """All of them."""
        for number, seed, url, model in self._read(sql.CAMPAIGNS):
            yield KnownCampaign(id=number, seed=seed, url=url, model=model)

    def prompts(self) -> Iterator[PlantedPrompt]:
        """All of them, one after the other, in an order that follows from their content."""
        for _, campaign, tenant, request, tokens, planted, markers in self._read(sql.PROMPTS):
            yield PlantedPrompt(
                campaign=campaign,
                tenant=tenant,
                request=request,
                tokens=tokens,
                planted_ms=planted,
                markers=tuple(markers.split()),
            )

    def kept(self) -> tuple[CampaignKept, ...]:
        """What it holds of each campaign, the oldest first."""
        return tuple(
            CampaignKept(
                campaign=number,
                seed=seed,
                endpoint=url,
                model=model,
                prompts=prompts,
                markers=markers,
                first_planted_s=_seconds(first),
                last_planted_s=_seconds(last),
            )
            for number, seed, url, model, prompts, markers, first, last in self._read(sql.KEPT)
        )

    def _read(self, question: sql.Question, values: Iterable[object] = ()) -> Iterator[Any]:
        try:
            for row in self._database.execute(question.text, tuple(values)):
                if not all(map(isinstance, row, question.kinds)):
                    raise sqlite3.DataError("a row has something else in it than a registry's")
                yield row
        except DATABASE_ERRORS as error:
            raise TargetError(f"{self.path}: cannot be read as {WHAT}: {error}; name another file") from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with transaction(self._database):
                yield
        except DATABASE_ERRORS as error:
            raise TargetError(
                f"{self.path}: cannot be written: {error}; nothing is sent whose markers would not be known"
            ) from error


def _remembered(row: Any, pieces: frozenset[str]) -> Iterator[Remembered]:
    tenant, request, tokens, planted, markers, campaign, seed, url, model = row
    origin = Origin(
        campaign=campaign, seed=seed, endpoint=url, model=model, request=request, planted_s=_seconds(planted)
    )
    for depth, text in enumerate(markers.split(), start=1):
        if not pieces.isdisjoint(pieces_in(text)):
            yield Remembered(text=text, tenant=tenant, depth=depth, tokens=tokens, origin=origin)


def _seconds(milliseconds: int | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None
