"""Watching an application's own calls: which carry a marker, what their answers show, and who is told.

Nothing here raises: what goes wrong with a canary is counted and logged, and the call is as it would have been.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from kvfence.findings.canary import CanaryResult, CanaryVerdict
from kvfence.probe.canaries.judging import Expected, foreign_in, judge, said_of
from kvfence.probe.canaries.memory import MEMORY, Planted, Registry
from kvfence.probe.canaries.planting import can_carry, planted, prompt_of
from kvfence.probe.markers import Place, make_marker, markers_in

LOG = logging.getLogger("kvfence.canary")
_LEVELS = {
    CanaryVerdict.LEAK: logging.ERROR,
    CanaryVerdict.GARBLED: logging.WARNING,
    CanaryVerdict.LOST: logging.WARNING,
    CanaryVerdict.INCONCLUSIVE: logging.INFO,
    CanaryVerdict.CLEAN: logging.DEBUG,
}
BESIDE_VERDICTS = ("watched", "left-alone", "refused", "fault")
"""What calls are counted as beside the verdicts: `Watch.counts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """One call whose answer showed something."""

    result: CanaryResult
    call: int
    """Its number in this process, from 1."""
    owner: str
    """Whose call it was: what `owner` said, or its number."""
    sampled: bool
    """Whether it carried a marker; an answer to any other call can still show somebody else's."""
    model: str
    prompt_chars: int
    response_id: str
    """The endpoint's own name for the answer; empty where it gave none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, as it is sent."""

    number: int
    owner: str
    own: dict[str, Any] = field(repr=False)
    """The caller's arguments, untouched."""
    sent: dict[str, Any] = field(repr=False)
    marker: str = ""
    """Empty where none was planted."""


@dataclass(slots=True, kw_only=True)
class Watch:
    """What all calls of a wrapped client share."""

    share: float
    on_report: Callable[[CanaryReport], None] | None = None
    owner: Callable[[Mapping[str, Any]], str] | None = None
    registry: Registry = field(default_factory=lambda: MEMORY)
    rng: random.Random = field(default_factory=random.SystemRandom, repr=False)
    clock: Callable[[], float] = time.time
    counts: Counter[str] = field(default_factory=Counter, init=False)
    """Calls by what came of them: a verdict, `watched` (no marker in it), `left-alone` (it could not carry one),
    `refused` (with the marker, and then asked without), and `fault` (of the canary's own)."""
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), init=False, repr=False)
    _numbers: count[int] = field(default_factory=lambda: count(1), init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def begin(self, arguments: dict[str, Any]) -> Call:
        """The call to send for these arguments: with a marker in a share of those that can carry one."""
        number = next(self._numbers)
        plain = Call(number=number, owner=f"call {number}", own=arguments, sent=arguments)
        try:
            if self.rng.random() >= self.share:
                return plain
            if not can_carry(arguments):
                self.count("left-alone")
                return plain
            owner = self.owner(arguments) if self.owner else plain.owner
            marker = make_marker(self.rng, self._key, Place(owner, number, 0)).text
            sent = planted(arguments, marker, self.rng.random())
            self.registry.plant(Planted(marker, owner, self.clock()))
            return Call(number=number, owner=owner, own=arguments, sent=sent, marker=marker)
        except Exception as error:  # noqa: BLE001 — the call goes on without a canary
            self.fault(error)
            return plain

    def without(self, call: Call) -> Call:
        """The same call as the caller made it, when it was refused with the marker."""
        self.count("refused")
        return Call(number=call.number, owner=call.owner, own=call.own, sent=call.own)

    def end(self, call: Call, answer: str, *, cut: bool, response_id: str) -> CanaryResult | None:
        """Judge an answer and tell of it; None where it shows nothing."""
        if call.marker:
            result = judge(answer, Expected.of(call.marker, prompt_of(call.own)), self.registry, cut=cut)
        elif (found := self._foreign(call, answer)) is not None:
            result = found
        else:
            self.count("watched")
            return None
        self.count(result.verdict)
        LOG.log(_LEVELS[result.verdict], "call %d: %s: %s", call.number, result.verdict, result.detail)
        self._tell(call, result, response_id)
        return result

    def _foreign(self, call: Call, answer: str) -> CanaryResult | None:
        """A leak in the answer to a call that carried no marker."""
        if not foreign_in(answer, Expected(""), self.registry):
            return None  # nearly always, and then the prompt need not be read
        beside = frozenset(markers_in(prompt_of(call.own)))
        foreign = foreign_in(answer, Expected("", beside), self.registry)
        if not foreign:
            return None
        return CanaryResult(
            verdict=CanaryVerdict.LEAK, answer=answer, shown="", foreign=foreign, detail=said_of(foreign)
        )

    def _tell(self, call: Call, result: CanaryResult, response_id: str) -> None:
        if self.on_report is None:
            return
        self.on_report(
            CanaryReport(
                result=result,
                call=call.number,
                owner=call.owner,
                sampled=bool(call.marker),
                model=str(call.own.get("model", "")),
                prompt_chars=len(prompt_of(call.own)),
                response_id=response_id,
            )
        )

    def fault(self, error: Exception) -> None:
        """Something of the canary's own went wrong; its kind is told, and no text of anybody."""
        self.count("fault")
        LOG.warning("a canary failed by itself (%s); the call was not touched", type(error).__name__)

    def count(self, what: str) -> None:
        """One more call of which this came."""
        with self._lock:
            self.counts[what] += 1
