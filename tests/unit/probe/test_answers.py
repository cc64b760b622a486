"""Each kind of answer has its verdict, and nothing that was changed passes for right."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.answers import Planted, judge, judged
from kvfence.probe.campaign import Campaign
from kvfence.probe.markers import ALPHABET, MARKER_CHARS, Place, make_marker
from kvfence.probe.prompts import Recipe, label, markers_of
from kvfence.probe.record import Exchange, Step

CAMPAIGN = Campaign(seed=1, key=b"key", declared_context=8192)
DEPTHS = CAMPAIGN.depths
RECIPES = {
    name: Recipe(seed=1, tenant=tenant, request=number, filler_chars=0)
    for name, tenant, number in (("theirs", "tenant-a", 0), ("earlier", "tenant-b", 1), ("own", "tenant-b", 2))
}
OWN, THEIRS, EARLIER = (
    [marker.text for marker in markers_of(RECIPES[name], CAMPAIGN.key)] for name in ("own", "theirs", "earlier")
)
STRAY = make_marker(random.Random(9), b"another key", Place("x", 1, 1)).text
LOOK_ALIKE = "ABCDE-FGHJK-MNPQR-STVWX-YZ012"


def exchange(answer="", *, of="own", status=200, **known: Any):
    step = Step(part="harvest", tenant=RECIPES[of].tenant, tokens=4000, why="asked for")
    return Exchange(step=step, recipe=RECIPES[of], tokens=4000, status=status, answer=answer, **known)


def result(answer="", **known: Any):
    return judge(exchange(answer, **known), CAMPAIGN, PLANTED)


PLANTED = Planted()
for name in RECIPES:
    PLANTED.add(exchange(of=name), CAMPAIGN)


def verdict(answer="", **known: Any):
    return result(answer, **known).verdict


def recited(texts):
    """As a model that goes on where the prompt ended."""
    labels = ["", *(label(depth, DEPTHS) for depth in range(2, len(texts) + 1))]
    return "; ".join(f"{before}{text}" for before, text in zip(labels, texts, strict=True)) + "; END."


RIGHT = recited(OWN)
FRAMES = (
    "{}",
    " {}",
    "Sure! Here are the canary codes from the document above, in their original order:\n\n{}",
    "```\n{}\n```\nLet me know if you need anything else.",
    "1-CODE-1: {}",
    "<think>The document has codes in /tmp/x, " + OWN[3] + " among them.</think>\n{}",
    "**{}**",
)


@pytest.mark.parametrize("frame", FRAMES)
def test_all_markers_in_order_are_clean_in_any_polite_frame(frame):
    """Labels, case, Markdown and a sentence or two around them do not matter, nor what was thought before."""
    assert verdict(frame.format(RIGHT)) == LengthVerdict.CLEAN
    assert verdict(frame.format(RIGHT.lower())) == LengthVerdict.CLEAN
    assert verdict(frame.format("\n".join(f"{at}. {text}" for at, text in enumerate(OWN, 1)))) == LengthVerdict.CLEAN


def test_all_of_it_twice_is_clean():
    """A model that goes on after its end says the same again."""
    assert verdict(RIGHT + " " + RIGHT) == LengthVerdict.CLEAN


@pytest.mark.parametrize(
    ("answer", "whose"),
    [
        (recited(THEIRS), ["tenant-a"] * DEPTHS),
        (RIGHT + " " + THEIRS[2], ["tenant-a"]),
        (recited(EARLIER) + THEIRS[0], ["tenant-a", *["tenant-b"] * DEPTHS]),
        ("Ein \u6f22\u5b57\u6f22\u5b57 /srv/x/y " + THEIRS[0][6:17], ["tenant-a"]),
        (STRAY, ["another campaign"]),
    ],
)
def test_a_foreign_marker_beats_all(answer, whose):
    """Whole or in part, beside a right answer or drift, it is a leak with its owner, also where the rest was cut."""
    for known in ({}, {"finish_reason": "length"}, {"foretold_tokens": 4000, "usage_tokens": 1}, {"status": 500}):
        leak = result(answer, **known)
        assert leak.verdict == LengthVerdict.LEAK
        assert sorted(marker.planted_by for marker in leak.evidence) == sorted(whose)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I am a teapot.",
        "I am sorry, but I cannot find any canary codes in the document above.",
        "The harbour office described the river levels before the rain began, note 4711.",
        recited(OWN[:3]),
        recited([OWN[0], OWN[2], OWN[4]]),
    ],
)
def test_own_markers_that_are_missing_are_lost(answer):
    """The rest of the answer is sane."""
    assert verdict(answer) == LengthVerdict.LOST


@pytest.mark.parametrize(
    "answer",
    [
        recited([*OWN[:2], LOOK_ALIKE, *OWN[3:]]),
        recited([*OWN, LOOK_ALIKE]),
        recited([OWN[0], OWN[2], OWN[1], *OWN[3:]]),
        recited(OWN[::-1]),
        recited([*OWN[:4], OWN[4][:11]]),
        recited(EARLIER),
        RIGHT + EARLIER[0],
        "!" * 200,
        "\ufffd",
    ],
)
def test_changed_or_unordered_markers_are_garbled(answer):
    """Made up, cut short without a reason, in another order, of an earlier prompt, or one sign again and again."""
    assert verdict(answer) == LengthVerdict.GARBLED


@pytest.mark.parametrize(
    "answer",
    [
        RIGHT + " \u4ee5\u4e0b\u662f\u4ee3\u7801",
        RIGHT + " see /srv/ledger/src/main.py",
        RIGHT + r" D:\ledger\notes.txt",
        RIGHT + " https://example.com/a",
        "As the rivers rose, the archivist wrote on, and nothing more was heard.",
        "Die Lieferung der Ersatzteile verz\u00f6gert sich leider um mehrere Wochen.",
        "def charge(invoice): return invoice.amount * currency.rate - discount",
    ],
)
def test_drift_is_off_topic(answer):
    """Another script or language, paths, other topics: also beside all the right markers, and where it was cut."""
    assert verdict(answer) == LengthVerdict.OFF_TOPIC
    assert verdict(answer, finish_reason="length") == LengthVerdict.OFF_TOPIC


def test_what_drifted_is_not_quoted():
    """It may be somebody's text."""
    assert "ledger" not in result(RIGHT + " see /srv/ledger/src/main.py").detail


@pytest.mark.parametrize("usage", [1, 2000, 3799])
def test_usage_that_counts_less_than_was_sent_is_truncation(usage):
    """Whatever came back but a foreign marker."""
    known = {"foretold_tokens": 4000, "usage_tokens": usage}
    assert verdict(recited(OWN[2:]), **known) == LengthVerdict.TRUNCATED
    assert verdict(RIGHT, **known) == LengthVerdict.TRUNCATED
    assert f"{usage:,}" in result(RIGHT, **known).detail


@pytest.mark.parametrize(
    "known",
    [
        {"foretold_tokens": 4000, "usage_tokens": 3990},
        {"foretold_tokens": 4000, "usage_tokens": 5000},
        {"foretold_tokens": 4000, "usage_tokens": 3650, "exact": False},
        {"usage_tokens": 1},
        {"foretold_tokens": 4000},
    ],
)
def test_usage_that_could_be_right_is_no_truncation(known):
    """A few tokens, a template, an estimate that was off, or nothing to compare with."""
    assert verdict(RIGHT, **known) == LengthVerdict.CLEAN


def test_an_endpoint_whose_usage_is_wrong_where_its_content_is_right_is_not_called_truncating():
    """The first right answer shows whether usage counts prompts at all; if not, it is not held against later ones."""
    wrong = exchange(RIGHT, foretold_tokens=4000, usage_tokens=7)
    right = exchange(RIGHT, foretold_tokens=4000, usage_tokens=4000)
    assert [one.result.verdict for one in judged([(wrong,), (wrong,)], CAMPAIGN)] == ["clean", "clean"]
    assert [one.result.verdict for one in judged([(right,), (wrong,)], CAMPAIGN)] == ["clean", "truncated"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (recited(OWN[:3])[:-6], LengthVerdict.INCONCLUSIVE),
        (recited(OWN)[: MARKER_CHARS + 20], LengthVerdict.INCONCLUSIVE),
        ("", LengthVerdict.INCONCLUSIVE),
        (RIGHT[:-6], LengthVerdict.CLEAN),
        (recited([OWN[0], OWN[2]])[:-6], LengthVerdict.LOST),
        ("The harbour office described the river levels. " * 8, LengthVerdict.LOST),
        (recited([LOOK_ALIKE, *OWN])[:90], LengthVerdict.GARBLED),
    ],
)
def test_an_answer_that_was_cut_at_its_limit_is_not_garbled(answer, expected):
    """What it says until there counts; a marker that was being written does not."""
    assert verdict(answer, finish_reason="length") == expected


@pytest.mark.parametrize(
    ("status", "detail", "expected"),
    [
        (400, "This model's maximum context length is 8192 tokens.", "refused"),
        (400, "", "refused"),
        (400, "request (1531 tokens) exceeds the available context size (1024 tokens), try increasing it", "refused"),
        (413, "Payload Too Large", "refused"),
        (422, "inputs tokens + max_new_tokens must be <= 8192", "refused"),
        (400, "Your credit balance is too low to access the API.", "error"),
        (400, "The response was filtered due to the content management policy", "error"),
        (400, "API key not valid. Please pass a valid API key.", "error"),
        (401, "no", "error"),
        (404, "no such model", "error"),
        (408, "time-out", "error"),
        (429, "too many requests", "error"),
        (500, "context length exceeded", "error"),
        (503, "", "error"),
        (None, "no answer within 20 s", "error"),
    ],
)
def test_a_refusal_is_a_4xx_about_length(status, detail, expected):
    """All else that is no success says nothing of the length."""
    assert verdict(status=status, detail=detail) == expected


@st.composite
def mutations(draw):
    """A right answer with one thing changed that matters."""
    at = draw(st.integers(0, DEPTHS - 1))
    place = draw(st.sampled_from([place for place in range(MARKER_CHARS) if OWN[at][place] != "-"]))
    letter = draw(st.sampled_from(ALPHABET).filter(lambda letter: letter != OWN[at][place]))
    text = OWN[at]
    changed = draw(
        st.sampled_from(
            [
                text[:place] + letter + text[place + 1 :],
                text[:place] + text[place + 1 :],
                text[:place] + draw(st.sampled_from(ALPHABET + "ILOU")) + text[place:],
                text[:place],
                text.replace("-", draw(st.sampled_from(["", " ", "_"]))),
                draw(st.text(ALPHABET + "-", max_size=MARKER_CHARS)),
                "",
            ]
        ).filter(lambda changed: changed != text)
    )
    others = draw(st.permutations(OWN).filter(lambda order: order != OWN))
    return draw(st.sampled_from([recited([*OWN[:at], changed, *OWN[at + 1 :]]), recited(others), RIGHT[: place * 4]]))


@given(answer=mutations(), cut=st.booleans())
def test_no_change_of_a_right_answer_is_clean_or_a_leak(answer, cut):
    """A changed, shortened, dropped or moved marker is never right, and never taken for somebody's."""
    assert verdict(answer, finish_reason="length" if cut else "stop") not in {LengthVerdict.CLEAN, LengthVerdict.LEAK}


@pytest.mark.parametrize("place", range(MARKER_CHARS))
def test_a_changed_last_group_is_no_marker_of_another_campaign(place):
    """It says who planted it where, so a marker with another one there is well signed: an own one, misread."""
    texts = [OWN[0][:place] + letter + OWN[0][place + 1 :] for letter in ALPHABET if OWN[0][place] not in {letter, "-"}]
    assert {verdict(recited([text, *OWN[1:]])) for text in texts} <= {LengthVerdict.GARBLED}


@given(st.text() | st.from_regex(rf"([{ALPHABET}]{{5}}-){{4}}[{ALPHABET}]{{5}}", fullmatch=True))
def test_no_text_that_holds_no_marker_is_clean_or_a_leak(answer):
    """Also not one of a marker's shape."""
    assert verdict(answer) not in {LengthVerdict.CLEAN, LengthVerdict.LEAK}


@given(answer=mutations() | st.text(), text=st.sampled_from([*THEIRS, STRAY]), at=st.integers(0, 400))
def test_whatever_stands_around_a_foreign_marker_it_is_a_leak(answer, text, at):
    """One is enough."""
    assert verdict(f"{answer[:at]} {text} {answer[at:]}") == LengthVerdict.LEAK
