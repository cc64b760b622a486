"""Several answers at one length into one row: no verdict from one noisy sample. Pure.

A leak counts at once: a marker with its signs does not come back by chance. Wrong content can be chance, and an error
can be load, so each counts when it was seen twice at that length, and until then the length is asked for again with
fresh markers. Wrong once and right twice is a clean length, and the wrong answer is told beside it. Where a length is
asked for many times, a model loses a marker twice by chance as well: so many have to be wrong that chance does not
explain them (`chance`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kvfence.findings.depth_recall import added
from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.recall import LengthResult, LengthVerdict
from kvfence.probe.chance import enough
from kvfence.probe.record import Judged, Round, Scenario, Seen, of_scenario, rounds_made
from kvfence.probe.refusals import SUCCESS

COUNTS_WHEN_SEEN = 2
AGAIN_MAX = 2
"""More requests for a length that is not decided: two of three decide."""
RIGHT = frozenset({LengthVerdict.CLEAN, LengthVerdict.REFUSED})
UNKNOWN = frozenset({LengthVerdict.ERROR, LengthVerdict.ELSEWHERE, LengthVerdict.INCONCLUSIVE})
WRONG = frozenset(LengthVerdict) - RIGHT - UNKNOWN - {LengthVerdict.LEAK}
BY_CHANCE = frozenset({LengthVerdict.LOST, LengthVerdict.GARBLED})
"""What a model does by itself now and then. Another topic, or a usage that is too small, is no slip of the pen."""

ASKED_ONCE = frozenset({LengthVerdict.REFUSED, LengthVerdict.LEAK})

_Answers = tuple[LengthResult, ...]
Length = tuple[int, str]
"""Tokens that are aimed at, and why."""


def rows(seen: Seen, scenario: Scenario) -> _Answers:
    """A scenario's harvests, one row for each length, in the order in which the lengths were first asked for."""
    return tuple(row for _, row in rows_by_length(seen, scenario))


def trials(seen: Seen) -> tuple[bool, ...]:
    """For each answer, whether it could have shown a leak; one that did, could.

    An answer that recites nobody's markers is no trial: it could not have shown whose text it was.
    """
    tenants: set[str] = set()
    found: list[bool] = []
    for one in seen:
        others_planted = bool(tenants - {one.exchange.step.tenant})
        recited = one.exchange.status == SUCCESS and one.result.recalled > 0 and not one.exchange.answered_by
        found.append(one.result.verdict is LengthVerdict.LEAK or (others_planted and recited))
        tenants.add(one.exchange.step.tenant)
    return tuple(found)


def rows_by_length(seen: Seen, scenario: Scenario) -> tuple[tuple[Length, LengthResult], ...]:
    """The same, each with the length that was aimed at and why."""
    could_leak = {id(one.result) for one, trial in zip(seen, trials(seen), strict=True) if trial}
    groups = _by_length(seen, scenario)
    return tuple((length, _with_rate(row_of(answers), answers, could_leak)) for length, answers in groups)


def undecided(seen: Seen, scenario: Scenario = Scenario.SWEEP) -> Length | None:
    """A length whose answers in a scenario do not agree on a verdict yet, so that it has to be asked for again."""
    return next((length for length, answers in _by_length(seen, scenario) if not _is_decided(answers)), None)


def round_again(seen: Seen, scenario: Scenario) -> Round:
    """The latest round of a scenario that asked for an undecided length, whole: what went wrong may need all of it."""
    length = undecided(seen, scenario)
    own = of_scenario(seen, scenario)
    asking = [one.exchange.step for one in own if (one.exchange.step.tokens, one.exchange.step.why) == length]
    if not asking:
        return ()
    steps = (one.exchange.step for one in own if one.exchange.step.round_number == asking[-1].round_number)
    number = rounds_made(seen, scenario)
    return tuple(replace(step, round_number=number) for step in steps if step.part != "cut-off")


def once_more(seen: Seen, repeats: int) -> Length | None:
    """A length of the sweep that was asked for fewer than `repeats` times, and for the fewest; None when there is none.

    All lengths in turn, not one until it is done: what shows at one length only shows in the first turn. More than once
    is for lengths that may leak: not for the control, nor where it is refused, nor where a leak was seen.
    """
    after_control = _by_length(seen, Scenario.SWEEP)[1:]
    few = [
        (len(answers), length)
        for length, answers in after_control
        if len(answers) < repeats and ASKED_ONCE.isdisjoint(_kinds(answers))
    ]
    return min(few, key=lambda one: one[0])[1] if few else None


def row_of(answers: _Answers) -> LengthResult:
    """What several answers at one length show together."""
    counts = Counter(_kinds(answers))
    verdict = _verdict(answers)
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
        by_depth=added(answer.by_depth for answer in answers),
        seconds=sum(answer.seconds for answer in answers),
    )


def _with_rate(row: LengthResult, answers: _Answers, could_leak: set[int]) -> LengthResult:
    leaks = sum(answer.verdict is LengthVerdict.LEAK for answer in answers)
    return replace(row, leak_rate=LeakRate(seen=leaks, trials=sum(id(answer) in could_leak for answer in answers)))


def _verdict(answers: _Answers) -> LengthVerdict:
    counts = Counter(_kinds(answers))
    if counts[LengthVerdict.LEAK]:
        return LengthVerdict.LEAK
    unknown, right = (_only(counts, kinds) for kinds in (UNKNOWN, RIGHT))
    if wrong := _what_counts(answers):
        return _sorted(wrong)[0][0]
    if unknown.total() >= max(COUNTS_WHEN_SEEN, right.total()):
        return _sorted(unknown)[0][0]
    if right == counts or right.total() >= COUNTS_WHEN_SEEN:
        return _sorted(right)[0][0]
    return LengthVerdict.INCONCLUSIVE


def _what_counts(answers: _Answers) -> Counter[LengthVerdict]:
    """The wrong answers that are too many for chance; none where chance explains them."""
    wrong = [answer for answer in answers if answer.verdict in WRONG]
    known = [answer for answer in answers if answer.verdict not in UNKNOWN]
    if len(wrong) >= enough(len(known)):
        return Counter(answer.verdict for answer in wrong)
    no_chance = Counter(answer.verdict for answer in wrong if not _may_be_chance(answer))
    return no_chance if no_chance.total() >= COUNTS_WHEN_SEEN else Counter()


def _may_be_chance(answer: LengthResult) -> bool:
    """Of a wrong answer. Nobody makes up an earlier prompt's marker; and JSON objects have controls of their own."""
    return answer.verdict in BY_CHANCE and not answer.evidence and answer.scenario != Scenario.JSON_ECHO


def _is_decided(answers: _Answers) -> bool:
    counts = Counter(_kinds(answers))
    wrong = [_seen(counts, kinds) for kinds in (WRONG, UNKNOWN)]
    right = _seen(counts, RIGHT)
    one_is_enough = counts[LengthVerdict.LEAK] or right == len(answers)
    return bool(one_is_enough or len(answers) > AGAIN_MAX or max(*wrong, right) >= COUNTS_WHEN_SEEN)


def _kinds(answers: _Answers) -> tuple[LengthVerdict, ...]:
    return tuple(answer.verdict for answer in answers)


def _only(counts: Counter[LengthVerdict], kinds: frozenset[LengthVerdict]) -> Counter[LengthVerdict]:
    return Counter({kind: count for kind, count in counts.items() if kind in kinds})


def _seen(counts: Counter[LengthVerdict], kinds: frozenset[LengthVerdict]) -> int:
    return _only(counts, kinds).total()


def _sorted(counts: Counter[LengthVerdict]) -> tuple[tuple[LengthVerdict, int], ...]:
    """The most frequent first; of equals the worst, which is the order in which they are defined but for clean."""
    worst = [kind for kind in LengthVerdict if kind is not LengthVerdict.CLEAN]
    order = [*worst, LengthVerdict.CLEAN]
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], order.index(pair[0]))))


def _by_length(seen: Seen, scenario: Scenario) -> list[tuple[Length, _Answers]]:
    groups: dict[Length, list[LengthResult]] = {}
    for one in of_scenario(seen, scenario):
        if _is_harvest(one):
            step = one.exchange.step
            groups.setdefault((step.tokens, step.why), []).append(one.result)
    return [(length, tuple(group)) for length, group in groups.items()]


def _is_harvest(one: Judged) -> bool:
    return one.exchange.step.part == "harvest"
