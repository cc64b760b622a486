"""Foreign text from the rows of the first reading to the matches of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import pyarrow as pa

from kvfence.errors import TargetError
from kvfence.findings.exposure import Logged, Match
from kvfence.findings.preview import Preview, preview_of
from kvfence.scan.exchange import Exchange
from kvfence.scan.foreign.answer_windows import AnswerWindows
from kvfence.scan.foreign.index import open_index, write_index
from kvfence.scan.foreign.innocence import alike
from kvfence.scan.foreign.joining import joined, owners_allowed
from kvfence.scan.foreign.meeting import Meeting, meetings
from kvfence.scan.foreign.owners import (
    NOBODY,
    ExchangeOwners,
    Exchanges,
    exchange_table,
    read_exchanges,
    source_and_offset,
)
from kvfence.scan.foreign.probes import EXCHANGES_FILE, Probes
from kvfence.scan.foreign.spans import Found, found_in, needed
from kvfence.scan.foreign.spread import private
from kvfence.scan.foreign.surprise import Circumstances, surprise
from kvfence.scan.foreign.windows import Hashing
from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.reading.exchanges import exchanges_at
from kvfence.scan.reading.source import Source

TEXT_BYTES = 256 << 20
"""So much of what met is held in memory at once, as far as the sizes of single exchanges allow."""

Rows = Callable[[str], Iterable[pa.RecordBatch]]
"""From the name of a pass to its rows, in the order of the inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignText:
    """The search, with what its hashes are keyed by and the folder in which its files are left."""

    key: bytes
    """Random, and the same as long as the folder is."""
    folder: Path
    preview: Preview = Preview.REDACTED
    """How much is shown of a stretch: it is decided here, so that no report holds more."""
    bits: int = 64
    """Of the hashes: fewer only to see that different texts that are hashed alike are no match."""

    @property
    def first(self) -> tuple[ExchangeOwners, AnswerWindows]:
        """The passes of the first reading."""
        return ExchangeOwners(key=self._owners_key), AnswerWindows(hashing=self._hashing)

    def second(self, rows: Rows) -> tuple[Pass, ...]:
        """Make the index of what the first reading gave, and the passes that meet it in a second one.

        Raises:
            OSError: the index cannot be written.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        owners, windows = self.first
        exchanges, isolation = exchange_table(rows(owners.name))
        exchanges.tofile(private(self.folder / EXCHANGES_FILE))
        write_index(rows(windows.name), exchanges, self.folder)
        return (Probes(hashing=self._hashing, folder=self.folder, key=self._owners_key, isolation=isolation),)

    def matches(self, rows: Rows, sources: Sequence[Source]) -> tuple[Match, ...]:
        """What the second reading met, read again by its place and compared byte by byte; in the order of the answers.

        Raises:
            OSError: a file cannot be read, or none written.
            TargetError: a file has changed since it was read.
        """
        exchanges = read_exchanges(self.folder / EXCHANGES_FILE)
        most = owners_allowed(exchanges)
        pairs = joined(rows("probes"), open_index(self.folder), exchanges, self.folder, most=most)
        met = chain.from_iterable(meetings(some, exchanges, most) for some in pairs.files())
        told: list[Match] = []
        for some in _some(met, exchanges):
            rows_needed = {row for meeting in some for row in needed(meeting)}
            texts = _texts(rows_needed, exchanges, sources)
            owners = {row: _owner(exchanges, row) for row in rows_needed}
            for meeting in some:
                told += [
                    _match(meeting, found, texts, _Places(exchanges, sources), self.preview)
                    for found in found_in(meeting, texts, owners, most, self._hashing)
                ]
        pairs.remove()
        return tuple(told)

    @property
    def _hashing(self) -> Hashing:
        return Hashing(key=self._number(b"windows"), bits=self.bits)

    @property
    def _owners_key(self) -> int:
        return self._number(b"owners")

    def _number(self, what: bytes) -> int:
        return int.from_bytes(blake2b(what, key=self.key, digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class _Places:
    exchanges: Exchanges
    sources: Sequence[Source]

    def of(self, row: int) -> str:
        """The file and the line, as they are printed."""
        number, _ = source_and_offset(int(self.exchanges["place"][row]))
        return f"{self.sources[number].shown}:{int(self.exchanges['line'][row])}"


def _some(met: Iterable[Meeting], exchanges: Exchanges) -> Iterator[list[Meeting]]:
    """Meetings whose texts fit into memory together."""
    some: list[Meeting] = []
    size = 0
    for meeting in met:
        rows = [*needed(meeting)]
        size += int(exchanges["prompt_bytes"][rows].sum() + exchanges["answer_bytes"][rows].sum())
        some.append(meeting)
        if size >= TEXT_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _texts(rows: Iterable[int], exchanges: Exchanges, sources: Sequence[Source]) -> dict[int, Exchange]:
    by_source: dict[int, dict[int, int]] = {}
    for row in rows:
        number, offset = source_and_offset(int(exchanges["place"][row]))
        by_source.setdefault(number, {})[offset] = row
    texts = {}
    for number, wanted in sorted(by_source.items()):
        for exchange in exchanges_at(sources[number], wanted):
            if exchange.place.offset in wanted:
                texts[wanted.pop(exchange.place.offset)] = exchange
        if wanted:
            raise TargetError(f"{sources[number].shown}: it has changed since it was read; scan it again")
    return texts


def _owner(exchanges: Exchanges, row: int) -> int | None:
    owner = int(exchanges["owner"][row])
    return None if owner == NOBODY else owner


def _match(meeting: Meeting, found: Found, texts: Mapping[int, Exchange], places: _Places, preview: Preview) -> Match:
    span = found.span
    answered, source = texts[meeting.answer], texts[span.source]
    answer = answered.answer.encode(errors="replace")
    stretch = answer[span.at : span.end]
    text = stretch.decode(errors="replace")
    held = (source.prompt if span.in_prompt else source.answer).encode(errors="replace")
    across = None not in {answered.tenant, source.tenant} and answered.tenant != source.tenant
    circumstances = Circumstances(
        candidates=found.candidates,
        in_prompt=span.in_prompt,
        across_tenants=across,
        is_in_order=None not in {answered.began_ms, source.began_ms},
        alike=0.0 if span.in_prompt else alike(answered, source),
    )
    return Match(
        response=_logged(answered, places.of(meeting.answer)),
        source=_logged(source, places.of(span.source)),
        candidates=found.candidates,
        in_prompt=span.in_prompt,
        span_chars=len(text),
        response_char=len(answer[: span.at].decode(errors="replace")),
        source_char=len(held[: span.source_at].decode(errors="replace")),
        across_tenants=across,
        score=surprise(stretch, circumstances),
        preview=preview_of(text, preview),
    )


def _logged(exchange: Exchange, where: str) -> Logged:
    return Logged(id=exchange.id, tenant=exchange.tenant, at_ms=exchange.began_ms, model=exchange.model, where=where)
