"""What one answer shows of the marker that was buried in its prompt, and of everybody else's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from kvfence.findings.canary import ELSEWHERE, CanaryResult, CanaryVerdict, ForeignCanary
from kvfence.findings.redact import masked
from kvfence.probe.canaries.memory import Planted, Registry
from kvfence.probe.canaries.stripping import stripped
from kvfence.probe.canaries.wording import DASHES, carrier_atoms, whole
from kvfence.probe.markers import is_ours, markers_in, pieces_in

_CARRIER = re.compile(whole(carrier_atoms()), re.IGNORECASE)
_WORDS = re.compile(r"[0-9A-Z]+")


@dataclass(frozen=True, slots=True)
class Expected:
    """The markers that an answer may have."""

    own: str
    """The one that was asked for; empty where none was planted."""
    beside: frozenset[str] = frozenset()
    """Others that stand in the same prompt."""

    @classmethod
    def of(cls, own: str, prompt: str) -> Self:
        """Of the answer to a prompt in which that marker was planted; whole ones that stood there are its own too."""
        return cls(own, frozenset(text for text in markers_in(prompt) if is_ours(text)))

    @property
    def pieces(self) -> frozenset[str]:
        """Of all of them."""
        return frozenset().union(*(pieces_in(text) for text in (self.own, *self.beside)))


def foreign_in(answer: str, expected: Expected, registry: Registry) -> tuple[ForeignCanary, ...]:
    """Markers that stand in an answer and not in its prompt, whole or cut: those remembered, and strangers."""
    said = answer.translate(DASHES)
    pieces = pieces_in(said) - expected.pieces
    if not pieces:
        return ()
    known = {planted.text: planted for planted in registry.whose(pieces)}
    near = frozenset().union(expected.pieces, *(pieces_in(text) for text in known))
    strangers = [text for text in markers_in(said) if is_ours(text) and near.isdisjoint(pieces_in(text))]
    return (*map(_of_known, known.values()), *map(_of_stranger, dict.fromkeys(strangers)))


def judge(answer: str, expected: Expected, registry: Registry, *, cut: bool = False) -> CanaryResult:
    """One answer. `cut`: it ended before its end, so that a missing marker says nothing."""
    foreign = foreign_in(answer, expected, registry)
    verdict, detail = _verdict(answer, expected.own, foreign, cut=cut)
    return CanaryResult(
        verdict=verdict,
        answer=stripped(answer, expected.own),
        shown=masked(expected.own),
        foreign=foreign,
        detail=detail,
    )


def _verdict(answer: str, own: str, foreign: tuple[ForeignCanary, ...], *, cut: bool) -> tuple[CanaryVerdict, str]:
    shown = masked(own)
    if foreign:
        return CanaryVerdict.LEAK, said_of(foreign)
    said = answer.translate(DASHES).upper()
    if own in markers_in(said):
        return CanaryVerdict.CLEAN, f"the marker {shown} came back"
    if cut:
        return CanaryVerdict.INCONCLUSIVE, f"the answer ended before the marker {shown} could come"
    if not set(own.split("-")).isdisjoint(_WORDS.findall(said)):
        return CanaryVerdict.GARBLED, f"only parts of the marker {shown} came back"
    if _CARRIER.search(answer):
        return CanaryVerdict.GARBLED, f"where the marker {shown} was asked for, one came that nobody planted"
    return CanaryVerdict.LOST, f"nothing of the marker {shown} came back"


def said_of(foreign: Iterable[ForeignCanary]) -> str:
    """That markers of others came back, and whose, in words."""
    whose = "; ".join(f"{one.shown}, planted by {one.planted_by}" for one in foreign)
    return f"the answer has a marker that stands in another prompt: {whose}"


def _of_known(planted: Planted) -> ForeignCanary:
    return ForeignCanary(planted_by=planted.owner, planted_s=planted.planted_s, shown=masked(planted.text))


def _of_stranger(text: str) -> ForeignCanary:
    return ForeignCanary(planted_by=ELSEWHERE, planted_s=None, shown=masked(text))
