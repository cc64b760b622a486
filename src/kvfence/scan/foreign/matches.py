"""Foreign text from the rows of the first reading to the matches of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa

from kvfence.findings.exposure import Logged, Match
from kvfence.findings.preview import Preview, preview_of
from kvfence.scan.exchange import Exchange
from kvfence.scan.foreign.answer_windows import AnswerWindows
from kvfence.scan.foreign.comparing import Comparing, Comparison, comparisons
from kvfence.scan.foreign.index import write_index
from kvfence.scan.foreign.innocence import alike
from kvfence.scan.foreign.joining import Joining
from kvfence.scan.foreign.owners import (
    ExchangeOwners,
    Exchanges,
    Isolation,
    exchange_table,
    read_exchanges,
    source_and_offset,
)
from kvfence.scan.foreign.probes import EXCHANGES_FILE, Probes
from kvfence.scan.foreign.spans import Found
from kvfence.scan.foreign.spread import private
from kvfence.scan.foreign.surprise import Circumstances, surprise
from kvfence.scan.foreign.texts import with_texts
from kvfence.scan.foreign.windows import Hashing
from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.reading.source import Source

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
    isolation: Isolation | None = None
    """Whose text must not be seen by whom; None for what the log suggests."""
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
        exchanges, isolation = exchange_table(rows(owners.name), self.isolation)
        exchanges.tofile(private(self.folder / EXCHANGES_FILE))
        write_index(rows(windows.name), exchanges, self.folder)
        return (Probes(hashing=self._hashing, folder=self.folder, key=self._owners_key, isolation=isolation),)

    def third(self, probes: Sequence[Path]) -> Joining:
        """The job of joining what the second reading met. `probes`: the files of its rows."""
        return Joining(probes=tuple(probes), index=self.folder, exchanges=self.folder / EXCHANGES_FILE)

    def fourth(self, pairs: Sequence[Path], sources: Sequence[Source]) -> tuple[Comparing, list[Comparison]]:
        """The job of comparing texts, and its tasks. `pairs`: what the third left."""
        job = Comparing(
            sources=tuple(source.rooted() for source in sources),
            exchanges=self.folder / EXCHANGES_FILE,
            pairs=tuple(pairs),
            index=self.folder,
            hashing=self._hashing,
        )
        return job, comparisons(read_exchanges(self.folder / EXCHANGES_FILE), sources)

    def matches(self, found: Iterable[tuple[int, Found]], sources: Sequence[Source]) -> tuple[Match, ...]:
        """What the comparing found, as it is reported. `found`: rows of answers, and what stands in them.

        Raises:
            OSError: a file cannot be read.
            TargetError: a file has changed since it was read.
        """
        exchanges = read_exchanges(self.folder / EXCHANGES_FILE)
        places = _Places(exchanges, sources)
        with_rows = (((answer, one), (answer, one.span.source)) for answer, one in found)
        return tuple(
            _match(answer, one, texts, places, self.preview)
            for (answer, one), texts in with_texts(with_rows, exchanges, sources)
        )

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


def _match(answer_row: int, found: Found, texts: Mapping[int, Exchange], places: _Places, preview: Preview) -> Match:
    span = found.span
    answered, source = texts[answer_row], texts[span.source]
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
        response=_logged(answered, places.of(answer_row)),
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
