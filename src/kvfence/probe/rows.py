"""Several answers at one length into one row: no verdict from one noisy sample. Pure.

A leak counts at once: a marker with its signs does not come back by chance. Wrong content can be chance, and an error
can be load, so each counts when it was seen twice at that length, and until then the length is asked for again with
fresh markers. Wrong once and right twice is a clean length, and the wrong answer is told beside it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.record import Judged, Scenario, Seen, of_scenario

COUNTS_WHEN_SEEN = 2
AGAIN_MAX = 2
"""More requests than `repeats` for a length that is not decided: two of three decide."""
RIGHT = frozenset({LengthVerdict.CLEAN, LengthVerdict.REFUSED})
UNKNOWN = frozenset({LengthVerdict.ERROR, LengthVerdict.INCONCLUSIVE})
WRONG = frozenset(LengthVerdict) - RIGHT - UNKNOWN - {LengthVerdict.LEAK}

_Answers = tuple[LengthResult, ...]


def rows(seen: Seen, scenario: Scenario) -> _Answers:
    """A scenario's harvests, one row for each length, in the order in which the lengths were first asked for."""
    return tuple(row_of(answers) for answers in _by_length(seen, scenario))


def undecided(seen: Seen, repeats: int) -> tuple[int, str] | None:
    """The length of the sweep's last harvest and why it was asked for, where it has to be asked for again."""
    by_length = _by_length(seen, Scenario.SWEEP)
    if not by_length or _is_decided(by_length[-1], repeats):
        return None
    last = next(one.exchange.step for one in reversed(of_scenario(seen, Scenario.SWEEP)) if _is_harvest(one))
    return last.tokens, last.why


def row_of(answers: _Answers) -> LengthResult:
    """What several answers at one length show together."""
    counts = Counter(answer.verdict for answer in answers)
    verdict = _verdict(counts)
    shown = next((answer for answer in answers if answer.verdict is verdict), answers[0])
    details = [shown.detail]
    if len(answers) > 1:
        details.append(
            f"asked {len(answers)} times: " + ", ".join(f"{count} {kind}" for kind, count in _sorted(counts))
        )
    return replace(
        shown,
        verdict=verdict,
        foreign=max(answer.foreign for answer in answers),
        detail="; ".join(filter(None, details)),
        answers=_sorted(counts),
    )


def _verdict(counts: Counter[LengthVerdict]) -> LengthVerdict:
    if counts[LengthVerdict.LEAK]:
        return LengthVerdict.LEAK
    for kinds in (WRONG, UNKNOWN):
        if _seen(counts, kinds) >= COUNTS_WHEN_SEEN:
            return _sorted(_only(counts, kinds))[0][0]
    right = _only(counts, RIGHT)
    if not right or (len(right) < len(counts) and right.total() < COUNTS_WHEN_SEEN):
        return LengthVerdict.INCONCLUSIVE
    return _sorted(right)[0][0]


def _is_decided(answers: _Answers, repeats: int) -> bool:
    counts = Counter(answer.verdict for answer in answers)
    if counts[LengthVerdict.LEAK] or len(answers) >= repeats + AGAIN_MAX:
        return True
    if any(_seen(counts, kinds) >= COUNTS_WHEN_SEEN for kinds in (WRONG, UNKNOWN)):
        return True
    right = _seen(counts, RIGHT)
    return len(answers) >= repeats and (right == len(answers) or right >= COUNTS_WHEN_SEEN)


def _only(counts: Counter[LengthVerdict], kinds: frozenset[LengthVerdict]) -> Counter[LengthVerdict]:
    return Counter({kind: count for kind, count in counts.items() if kind in kinds})


def _seen(counts: Counter[LengthVerdict], kinds: frozenset[LengthVerdict]) -> int:
    return _only(counts, kinds).total()


def _sorted(counts: Counter[LengthVerdict]) -> tuple[tuple[LengthVerdict, int], ...]:
    """The most frequent first; of equals the worst, which is the order in which they are defined but for clean."""
    worst = [kind for kind in LengthVerdict if kind is not LengthVerdict.CLEAN]
    order = [*worst, LengthVerdict.CLEAN]
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], order.index(pair[0]))))


def _by_length(seen: Seen, scenario: Scenario) -> tuple[_Answers, ...]:
    groups: dict[tuple[int, str], list[LengthResult]] = {}
    for one in of_scenario(seen, scenario):
        if _is_harvest(one):
            step = one.exchange.step
            groups.setdefault((step.tokens, step.why), []).append(one.result)
    return tuple(tuple(group) for group in groups.values())


def _is_harvest(one: Judged) -> bool:
    return one.exchange.step.part == "harvest"
