"""The stretches of one answer that are another's: what it shares, less what its own requests and too many have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from kvfence.scan.exchange import Exchange
from kvfence.scan.foreign.innocence import asked_the_same, conversations, goes_on_from
from kvfence.scan.foreign.meeting import Meeting
from kvfence.scan.foreign.runs import Run, shared_runs, standing_in
from kvfence.scan.foreign.surprise import SAYS_LITTLE_BYTES, said_bytes
from kvfence.scan.foreign.windows import WINDOW_BYTES, Hashing

SPAN_BYTES_MIN = 64
"""A shorter stretch is not reported. `windows.RUN_BYTES_MIN` is less, so that none is missed."""
NEW_BYTES_MIN = 56
"""So much of a stretch must be explained by nothing: its ends may stand in the answer's own prompt by chance."""
NEARLY = 0.9
"""A source that has so much of a stretch is one that it may be from."""
_INSIDE = 0.5


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of an answer, in bytes, and where it stands in a source."""

    at: int
    end: int
    source: int
    """The row of the exchange."""
    source_at: int
    in_prompt: bool

    @property
    def size(self) -> int:
        """In bytes."""
        return self.end - self.at


@dataclass(frozen=True, slots=True)
class Found:
    """A span from the likeliest of its sources."""

    span: Span
    candidates: int


def found_in(
    meeting: Meeting, texts: Mapping[int, Exchange], owners: Mapping[int, int | None], most: int, hashing: Hashing
) -> list[Found]:
    """The spans of an answer, in its order.

    `owners`: of each exchange, None where nobody knows; `most`: how many may have a stretch that is still somebody's.
    """
    answered = texts[meeting.answer]
    answer = answered.answer.encode(errors="replace")
    spans = [
        span
        for source in meeting.sources
        for span in _shared(answered, texts[source], (source, source < meeting.answer), answer, hashing)
    ]
    if not spans:
        return []
    explained = _explained(answer, meeting, texts, hashing)
    spans = [left for span in spans for left in _unexplained(span, answer, explained)]
    groups = list(_grouped(spans))
    found = (_judged(group, texts, owners, most) for group in groups)
    return sorted((one for one in found if one), key=lambda one: (one.span.at, one.span.end))


def _shared(
    answered: Exchange, source: Exchange, at: tuple[int, bool], answer: bytes, hashing: Hashing
) -> Iterator[Span]:
    """`at`: the row of the source, and whether the logs have it before the answer."""
    row, is_above = at
    is_known_order = answered.began_ms is not None and source.began_ms is not None
    is_earlier = is_known_order and (source.began_ms or 0) < (answered.began_ms or 0)
    is_other = None not in {answered.tenant, source.tenant} and answered.tenant != source.tenant
    if not (is_earlier or is_other) and goes_on_from(source, answered):
        return
    for run in shared_runs(answer, source.prompt.encode(errors="replace"), hashing):
        yield _span(run, row, in_prompt=True)
    is_first = is_above if not is_known_order or source.began_ms == answered.began_ms else is_earlier
    if is_first and not asked_the_same(answered, source):
        for run in shared_runs(answer, source.answer.encode(errors="replace"), hashing):
            yield _span(run, row, in_prompt=False)


def _span(run: Run, source: int, *, in_prompt: bool) -> Span:
    return Span(run.at, run.end, source, run.source_at, in_prompt)


def _explained(
    answer: bytes, meeting: Meeting, texts: Mapping[int, Exchange], hashing: Hashing
) -> npt.NDArray[np.bool_]:
    """Which bytes of the answer stand in a prompt of its own or are common."""
    explained = np.zeros(len(answer), np.bool_)
    for own in (meeting.answer, *meeting.own):
        explained |= standing_in(answer, texts[own].prompt.encode(errors="replace"), hashing)
    for at in meeting.common:
        explained[at : at + WINDOW_BYTES] = True
    return explained


def _unexplained(span: Span, answer: bytes, explained: npt.NDArray[np.bool_]) -> Iterator[Span]:
    """The span from its first byte that nothing explains to its last one, between whole characters.

    Nothing where too little of it is left in one piece, or where it says little.
    """
    if span.size < SPAN_BYTES_MIN:
        return
    new = np.flatnonzero(~explained[span.at : span.end])
    if not len(new):
        return
    pieces = np.split(new, np.flatnonzero(np.diff(new) > 1) + 1)
    longest = max(pieces, key=len)
    at, end = span.at + int(new[0]), span.at + int(new[-1]) + 1
    while at < end and answer[at] & 0xC0 == 0x80:  # noqa: PLR2004 — a byte in the middle of a character
        at += 1
    while end > at and end < len(answer) and answer[end] & 0xC0 == 0x80:  # noqa: PLR2004 — the same
        end -= 1
    if len(longest) >= NEW_BYTES_MIN and said_bytes(answer[at:end]) >= SAYS_LITTLE_BYTES:
        yield replace(span, at=at, end=end, source_at=span.source_at + at - span.at)


def _grouped(spans: Iterable[Span]) -> Iterator[Sequence[Span]]:
    """Spans of about the same stretch together, the longest first."""
    left = sorted(spans, key=lambda span: (-span.size, span.at, span.source, not span.in_prompt))
    while left:
        longest = left[0]
        inside = [span for span in left if _overlap(span, longest) >= _INSIDE * span.size]
        yield inside
        left = [span for span in left if _overlap(span, longest) < _INSIDE * span.size]


def _overlap(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.at, other.at))


def _judged(
    group: Sequence[Span], texts: Mapping[int, Exchange], owners: Mapping[int, int | None], most: int
) -> Found | None:
    """The likeliest source: one with (nearly) all of it, in a prompt before an answer, the last that began."""
    longest = group[0]
    whole = [span for span in group if _overlap(span, longest) >= NEARLY * longest.size]
    prompts = [span for span in whole if span.in_prompt]
    sources = {span.source for span in prompts or whole}
    known = {owners[source] for source in sources} - {None}
    unknown = [texts[source] for source in sources if owners[source] is None]
    candidates = len(known) + conversations(unknown)
    if candidates > most:
        return None
    began = {source: texts[source].began_ms for source in sources}
    likeliest = max(
        prompts or whole,
        key=lambda span: (began[span.source] or 0, span.size, -span.source, -span.source_at),
    )
    return Found(likeliest, candidates)


def needed(meeting: Meeting) -> Iterable[int]:
    """The exchanges whose texts are needed."""
    return chain((meeting.answer,), meeting.sources, meeting.own)
