"""No verdict from one noisy sample, and one leak is enough."""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from kvfence.findings.recall import LengthResult, LengthVerdict, ProbeVerdict
from kvfence.probe.campaign import Campaign, next_round
from kvfence.probe.prompts import Recipe
from kvfence.probe.record import Exchange, Judged, Scenario, Step
from kvfence.probe.rows import UNKNOWN, WRONG, once_more, row_of, rows, undecided
from kvfence.probe.scenarios import SCENARIOS
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import harvests, leak_rate, overall

CAMPAIGN = Campaign(seed=1, key=b"key", declared_context=8192)
CLEAN, LEAK, LOST, GARBLED, ERROR = (LengthVerdict(name) for name in ("clean", "leak", "lost", "garbled", "error"))
REFUSED, INCONCLUSIVE, OFF_TOPIC = (LengthVerdict(name) for name in ("refused", "inconclusive", "off-topic"))
CONTROL = (768, "control: can this model copy markers at all")
LENGTH = (4000, "asked for")


def answer(step, verdict, number=0):
    """As judged, without the text."""
    status = {REFUSED: 400, ERROR: 500}.get(verdict, 200)
    recipe = Recipe(seed=1, tenant=step.tenant, request=number, filler_chars=0)
    exchange = Exchange(step=step, recipe=recipe, tokens=step.tokens, status=status)
    result = LengthResult(
        tokens=step.tokens,
        why=step.why,
        status=status,
        verdict=verdict,
        recalled=5 * (verdict is CLEAN),
        planted=5,
        foreign=int(verdict is LEAK),
        detail=f"it was {verdict}",
    )
    return Judged(exchange, result)


def harvest(verdict, length=LENGTH, *, scenario=Scenario.SWEEP):
    return answer(Step(part="harvest", tenant="tenant-b", tokens=length[0], why=length[1], scenario=scenario), verdict)


def row(*verdicts):
    return row_of(tuple(harvest(verdict).result for verdict in verdicts))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([CLEAN], CLEAN),
        ([REFUSED], REFUSED),
        ([LEAK], LEAK),
        ([LOST], INCONCLUSIVE),
        ([ERROR], INCONCLUSIVE),
        ([LOST, LOST], LOST),
        ([LOST, CLEAN, CLEAN], CLEAN),
        ([LOST, CLEAN], INCONCLUSIVE),
        ([LOST, CLEAN, LOST], LOST),
        ([LOST, GARBLED], GARBLED),
        ([LOST, GARBLED, LOST], LOST),
        ([ERROR, LOST, CLEAN], INCONCLUSIVE),
        ([ERROR, ERROR], ERROR),
        ([ERROR, LOST, LOST], LOST),
        ([ERROR, CLEAN, CLEAN], CLEAN),
        ([LOST, LOST, LEAK], LEAK),
        ([CLEAN] * 9 + [GARBLED], CLEAN),
        ([CLEAN] * 9 + [ERROR] * 2, CLEAN),
        ([CLEAN] * 2 + [ERROR] * 3, ERROR),
        ([CLEAN] * 3 + [GARBLED] * 2, GARBLED),
        ([CLEAN] * 9 + [GARBLED] * 2, CLEAN),
        ([CLEAN] * 9 + [GARBLED] * 3, GARBLED),
        ([CLEAN] * 9 + [OFF_TOPIC] * 2, OFF_TOPIC),
        ([CLEAN] * 9 + [OFF_TOPIC] * 2 + [LOST], OFF_TOPIC),
        ([CLEAN] * 28 + [LOST] * 2, CLEAN),
        ([CLEAN] * 26 + [LOST] * 4, LOST),
        ([REFUSED, LOST, REFUSED], REFUSED),
    ],
)
def test_answers_at_one_length_have_one_verdict(verdicts, expected):
    """A leak at once; what is wrong when it was seen too often for chance; what was wrong once does not decide."""
    assert row(*verdicts).verdict is expected
    assert dict(row(*verdicts).answers) == {kind: verdicts.count(kind) for kind in verdicts}
    assert row(*verdicts).asked == len(verdicts)


def test_an_earlier_prompts_marker_and_a_json_object_count_when_seen_twice():
    """Neither is a slip: nobody makes the one up, and the other has controls of its own."""
    for changed in ({"evidence": ("a marker of the same tenant",)}, {"scenario": Scenario.JSON_ECHO}):
        answers = [harvest(CLEAN).result] * 14 + [replace(harvest(GARBLED).result, **changed)] * 2
        assert row_of(tuple(answers)).verdict is GARBLED


def test_what_was_wrong_once_is_told():
    """In the row's detail, with how often it was asked."""
    assert row(LOST, CLEAN, CLEAN).detail == "it was clean; asked 3 times: 2 clean, 1 lost"


@pytest.mark.parametrize(
    ("verdicts", "again"),
    [
        ([CLEAN], False),
        ([REFUSED], False),
        ([LEAK], False),
        ([LOST], True),
        ([ERROR], True),
        ([LOST, LOST], False),
        ([LOST, CLEAN], True),
        ([LOST, CLEAN, CLEAN], False),
        ([LOST, ERROR], True),
        ([LOST, ERROR, CLEAN], False),
        ([CLEAN, LOST], True),
        ([CLEAN, CLEAN, LOST], False),
    ],
)
def test_a_length_is_asked_for_again_until_it_is_decided(verdicts, again):
    """Up to twice more where an answer was wrong, also when other lengths were asked for since."""
    seen = (harvest(CLEAN, CONTROL), *map(harvest, verdicts), harvest(CLEAN, (6000, "asked for")))
    assert undecided(seen) == (LENGTH if again else None)


@pytest.mark.parametrize(
    ("verdicts", "repeats", "again"),
    [
        ([CLEAN], 1, False),
        ([CLEAN], 2, True),
        ([CLEAN] * 2, 2, False),
        ([LOST, CLEAN, CLEAN], 4, True),
        ([LOST, LOST], 4, True),
        ([REFUSED], 4, False),
        ([LEAK], 4, False),
    ],
)
def test_a_length_that_may_leak_is_asked_for_as_often_as_wanted(verdicts, repeats, again):
    """Not the control, not where one answer was enough."""
    seen = (harvest(CLEAN, CONTROL), *map(harvest, verdicts))
    assert once_more(seen, repeats) == (LENGTH if again else None)


def test_every_run_of_answers_ends_with_a_verdict_that_it_earned():
    """All sequences: at most three requests, nothing wrong by one answer, nothing clean by one against one."""
    for verdicts in product(LengthVerdict, repeat=3):
        seen = ()
        for verdict in verdicts:
            seen += (harvest(verdict),)
            if undecided(seen) is None:
                break
        assert undecided(seen) is None
        (found,) = rows(seen, Scenario.SWEEP)
        asked = [one.result.verdict for one in seen]
        if found.verdict in WRONG:
            assert sum(verdict in WRONG for verdict in asked) >= 2
        if found.verdict is CLEAN:
            assert asked == [CLEAN] or asked.count(CLEAN) >= 2 or {*asked} <= {CLEAN, REFUSED}
        assert (found.verdict is LEAK) == (LEAK in asked)
        assert asked[0] in WRONG | UNKNOWN or len(asked) == 1


def played(verdict_of, bounds=Bounds()):  # noqa: B008 — a frozen value
    """A campaign against an endpoint that gives its n-th request the verdict asked of it."""
    seen = ()
    while wanted := next_round(CAMPAIGN, bounds, seen, SCENARIOS):
        seen += tuple(answer(step, verdict_of(step, number), number) for number, step in enumerate(wanted, len(seen)))
    return seen


def usual(step):
    return REFUSED if step.tokens > CAMPAIGN.longest else CLEAN


def test_one_wrong_answer_costs_two_more_requests_with_their_seeds_and_no_verdict():
    """The same length again under the same conditions, and then on as planned."""
    plain = played(lambda step, _: usual(step))
    first = next(number for number, one in enumerate(plain) if one.exchange.step.tokens == 4096 and number > 2)
    seen = played(lambda step, number: LOST if number == first else usual(step))
    assert len(seen) == len(plain) + 2 * (1 + Bounds().seeds_each)
    assert [found.verdict for found in harvests(seen)] == [found.verdict for found in harvests(plain)]
    assert overall(seen, CAMPAIGN)[0] is ProbeVerdict.CLEAN


def test_repeats_ask_each_length_so_often():
    """Each row says how often; in turn; the control and what is refused are asked once."""
    seen = played(lambda step, _: usual(step), Bounds(repeats=3, requests_max=1000))
    assert [found.asked for found in harvests(seen)] == [1, 3, 3, 1]
    asked = [one.exchange.step.tokens for one in seen if one.exchange.step.part == "harvest"]
    assert asked[-4:] == [4096, CAMPAIGN.longest] * 2


def test_a_wrong_answer_that_could_not_be_asked_for_again_is_inconclusive():
    """The bound of requests was reached first."""
    plain = played(lambda step, _: usual(step))
    at = len(plain) - 4
    seen = played(lambda step, number: LOST if number == at else usual(step), Bounds(requests_max=at + 1))
    assert overall(seen, CAMPAIGN)[0] is ProbeVerdict.INCONCLUSIVE
    assert overall(seen[:-1], CAMPAIGN)[0] is ProbeVerdict.CLEAN


@pytest.mark.parametrize(
    ("control", "verdict", "made"),
    [
        ([LOST, LOST], ProbeVerdict.WEAK_MODEL, 2),
        ([GARBLED, CLEAN, GARBLED], ProbeVerdict.WEAK_MODEL, 3),
        ([INCONCLUSIVE, INCONCLUSIVE], ProbeVerdict.INCONCLUSIVE, 2),
        ([ERROR, ERROR], ProbeVerdict.INCONCLUSIVE, 2),
        ([REFUSED], ProbeVerdict.INCONCLUSIVE, 1),
        ([LOST, LEAK], ProbeVerdict.LEAK, 2),
    ],
)
def test_a_control_that_fails_is_the_models_fault_or_nobodys(control, verdict, made):
    """A model that cannot recite at a short length is told from an endpoint that does not answer, and from a leak."""
    seen = played(lambda step, number: control[number] if number < len(control) else usual(step))
    assert overall(seen, CAMPAIGN)[0] is verdict
    assert len(seen) == made


@pytest.mark.parametrize("kind", sorted(WRONG))
def test_wrong_content_past_a_length_is_the_verdict_in_all(kind):
    """Each kind under its own name."""
    seen = played(lambda step, _: kind if step.part == "harvest" and step.tokens > 5000 else usual(step))
    assert overall(seen, CAMPAIGN)[0] == kind


def test_the_worst_content_is_the_verdict_in_all():
    """Drift before changed markers before missing ones."""
    kinds = {4096: LOST, CAMPAIGN.longest: OFF_TOPIC}
    seen = played(lambda step, _: kinds.get(step.tokens, usual(step)) if step.part == "harvest" else usual(step))
    assert overall(seen, CAMPAIGN)[0] is ProbeVerdict.OFF_TOPIC


def test_a_trial_of_the_leak_rate_is_an_answer_that_could_have_shown_one():
    """Not the control before anything was planted, not what recited nothing, not a refusal; a leak always."""
    seed = Step(part="seed", tenant="tenant-a", tokens=700, why="plants")
    seen = (
        harvest(CLEAN, CONTROL),
        answer(seed, CLEAN),
        harvest(CLEAN),
        harvest(LOST),
        harvest(REFUSED),
        harvest(LEAK),
    )
    assert (leak_rate(seen).seen, leak_rate(seen).trials) == (1, 3)
    assert leak_rate(seen[:1]).upper_bound == 1
    assert leak_rate(seen[:3]).trials == 2


def test_many_repeats_of_a_model_that_slips_are_clean_and_of_a_server_that_loses_are_not():
    """Sixteen repeats of each length: two wrong answers of them are chance, one in three at length is not."""
    bounds = Bounds(repeats=16, requests_max=10_000)

    def losing(every):
        asked = Counter()

        def verdict_of(step, _):
            if step.part != "harvest" or usual(step) is not CLEAN:
                return usual(step)
            asked[step.tokens] += 1
            return LOST if step.tokens > CONTROL[0] and asked[step.tokens] % every == 0 else CLEAN

        return overall(played(verdict_of, bounds), CAMPAIGN)[0]

    assert losing(every=7) is ProbeVerdict.CLEAN
    assert losing(every=3) is ProbeVerdict.LOST
