"""A JSON object comes back exactly, or it is said in which way it did not."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.answers import judged
from kvfence.probe.campaign import Campaign
from kvfence.probe.given_back import given_back
from kvfence.probe.prompts import STOP, Ask, Form, Prefix, Recipe, answer_tokens, build, markers_of, object_of
from kvfence.probe.record import Exchange, Step

RECIPE = Recipe(seed=1, tenant="b", request=3, filler_chars=900, form=Form(ask=Ask.JSON))
EXPECTED = object_of(RECIPE, b"key")
PARTS = json.loads(EXPECTED)
CLEAN, GARBLED, LOST = LengthVerdict.CLEAN, LengthVerdict.GARBLED, LengthVerdict.LOST


def verdict(answer, *, cut=False):
    return given_back(answer, EXPECTED, cut=cut)[0]


@pytest.mark.parametrize(
    "answer",
    [
        EXPECTED,
        f"{EXPECTED}; END.",
        f"1-CODE-1: {EXPECTED}; END.",
        f"<think>The object {{...}} is to be copied.</think>{EXPECTED}",
        f"Here is the JSON object:\n```json\n{json.dumps(PARTS, indent=2)}\n```",
    ],
)
def test_white_space_and_a_polite_frame_are_free(answer):
    """Everything else is not."""
    assert verdict(answer) is CLEAN


@given(at=st.integers(0, len(EXPECTED) - 1), to=st.characters(min_codepoint=33, max_codepoint=126))
@settings(deadline=None)
def test_any_one_character_that_is_changed_is_noticed(at, to):
    """Or none was changed."""
    answer = EXPECTED[:at] + to + EXPECTED[at + 1 :]
    assert (verdict(answer) is CLEAN) is (answer == EXPECTED)


@given(st.text())
@settings(deadline=None)
def test_no_text_but_the_object_is_clean(answer):
    """And nothing is raised."""
    assert verdict(answer) is not CLEAN


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (json.dumps({**PARTS, "open": 1}), GARBLED),
        (json.dumps({**PARTS, "note": ""}), GARBLED),
        (json.dumps(dict(reversed(PARTS.items()))), GARBLED),
        (json.dumps({**PARTS, "more": 1}), GARBLED),
        (json.dumps({name: value for name, value in PARTS.items() if name != "open"}), LOST),
        (EXPECTED[:-1], GARBLED),
        ("There is no such object.", LOST),
        ("", LOST),
        ("[" * 100_000, LOST),
        ("{" * 100_000, GARBLED),
        (f"{EXPECTED} Как реки поднялись, архивариус писал", LengthVerdict.OFF_TOPIC),
    ],
)
def test_each_way_of_being_wrong_has_its_verdict(answer, expected):
    """Broken or changed is garbled, what is only missing is lost."""
    assert verdict(answer) is expected


def test_an_answer_that_was_cut_is_not_called_broken():
    """As long as it is the object's beginning."""
    assert verdict(EXPECTED[:50], cut=True) is LengthVerdict.INCONCLUSIVE
    assert verdict("X" + EXPECTED[1:50], cut=True) is LengthVerdict.INCONCLUSIVE
    assert verdict(EXPECTED[:50].replace("-v-", "-w-"), cut=True) is GARBLED


@given(chars=st.integers(0, 900), seed=st.integers(0, 10**6), depths=st.integers(1, 9), prefix=st.sampled_from(Prefix))
@settings(max_examples=12, deadline=None)
def test_an_induction_model_gives_the_object_back(chars, seed, depths, prefix):
    """The shape suits a model that goes on where the last 8 characters last stood."""
    recipe = Recipe(
        seed=seed, tenant="b", request=3, filler_chars=chars, depths=depths, form=Form(ask=Ask.JSON, prefix=prefix)
    )
    text = prompt = build(recipe, b"key").text
    while len(text) < len(prompt) + answer_tokens(depths, Ask.JSON) and not text.endswith(STOP):
        size = next(size for size in range(8, 0, -1) if text.rfind(text[-size:], 0, len(text) - 1) >= 0)
        text += text[text.rfind(text[-size:], 0, len(text) - 1) + size]
    assert text[len(prompt) :] == f"{object_of(recipe, b'key')}; {STOP}"


def test_a_marker_of_another_tenant_within_the_object_is_a_leak():
    """Spliced into a value, as it was reported."""
    campaign = Campaign(seed=1, key=b"key", declared_context=8192)
    theirs = Recipe(seed=1, tenant="a", request=1, filler_chars=0)
    (marker, *_) = markers_of(theirs, b"key")
    spliced = EXPECTED.replace(PARTS["000-v-000"], marker.text)
    exchanges = [
        Exchange(
            step=Step(part="harvest", tenant=recipe.tenant, tokens=900, why="asked"), recipe=recipe, tokens=9, **said
        )
        for recipe, said in (
            (theirs, {"status": None}),
            (RECIPE, {"status": 200, "answer": spliced}),
        )
    ]
    assert judged([tuple(exchanges)], campaign)[1].result.verdict is LengthVerdict.LEAK


def test_numbers_are_random_and_objects_are_replayable():
    """The same recipe has the same object; another request has another one."""
    assert object_of(RECIPE, b"key") == EXPECTED
    other = Recipe(seed=1, tenant="b", request=4, filler_chars=0, form=RECIPE.form)
    assert json.loads(object_of(other, b"key"))["001-v-001"] != PARTS["001-v-001"]
