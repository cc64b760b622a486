"""An answer that carries another's text is told, with whose it is; what looks like it and is none is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.foreign_texts import BEGIN_MS, asked, found, pairs, prose

SECRET = prose("victim's own", 400)
OWN = prose("what the other asked", 300)


def victim(**changes):
    return {
        "name": "v",
        "prompt": f"{OWN[:80]} {SECRET} and so on",
        "answer": "ok",
        "at": 0,
        "user": "victim",
    } | changes


def leaking(**changes):
    given = {"name": "b", "prompt": OWN, "answer": f"Well. {SECRET[50:250]} That is all.", "at": 60, "user": "other"}
    return given | changes


def log(*records):
    return found(asked(record.pop("name"), **record) for record in records)


def test_a_stretch_of_anothers_prompt_is_a_match():
    """Where it begins in both, how long it is, between whom, and no more of it than a few letters."""
    (match,) = log(victim(), leaking())
    assert pairs([match]) == [("b", "v")]
    assert (match.span_chars, match.response_char, match.in_prompt) == (200, 6, True)
    assert (match.source_char, match.candidates, match.across_tenants) == (80 + 1 + 50, 1, True)
    assert (match.between_ms, match.response.at_ms) == (60_000, BEGIN_MS + 60_000)
    assert (match.source.tenant, match.response.tenant) == ("victim", "other")
    assert match.source.where.endswith("log.jsonl:1")
    assert 0.5 < match.score <= 1
    assert len(match.preview) < 30
    assert SECRET[50:60] not in match.preview
    assert match.response.model == "m"


@given(st.integers(64, 120), st.text(max_size=15), st.text(max_size=15), st.integers(0, 200))
@settings(max_examples=25, deadline=None)
def test_each_stretch_of_64_bytes_is_found_wherever_it_stands(size, before, behind, at):
    """In any surroundings, in the prompt of one and in the answer of the other."""
    matches = log(
        victim(prompt=f"{before}{SECRET}{behind}"), leaking(answer=f"{behind}{SECRET[at : at + size]}{before}")
    )
    assert pairs(matches) == [("b", "v")]
    assert matches[0].span_chars >= size


@pytest.mark.parametrize(
    "text",
    [
        "字" * 3 + "地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏",
        "Ünïcödé… ñandú über straße naïve façade jalapeño Ærøskøbing",
    ],
)
def test_a_stretch_in_another_script_ends_between_characters(text):
    """Its size is in characters, and none is cut."""
    (match,) = log(victim(prompt=f"甲{text}乙"), leaking(answer=f"丙{text}丁"))
    assert (match.span_chars, match.response_char, match.source_char) == (len(text), 1, 1)


def test_an_answer_of_another_is_a_source_with_a_lower_score():
    """Its pages may be read as well; but answers are alike more often than prompts."""
    by_prompt = log(victim(), leaking())[0]
    (match,) = log(victim(prompt="Tell me.", answer=f"{SECRET}"), leaking())
    assert (match.in_prompt, match.source_char) == (False, 50)
    assert match.score < by_prompt.score


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([victim(), leaking(prompt=f"{OWN} {SECRET}")], "it stands in its own prompt"),
        ([victim(at=120), leaking()], "it was asked when the answer had long ended, or nearly: see the next test"),
        ([victim(user="other"), leaking()], "the text is the tenant's own"),
        ([victim(), leaking(name="a", prompt=SECRET, answer="-", at=30), leaking()], "the tenant sent it before"),
        ([victim(), leaking(answer=SECRET[50:110])], "it is shorter than 64 bytes"),
        ([victim(prompt="-" * 400), leaking(answer="-" * 300)], "it says nothing"),
        ([victim(prompt="ab " * 400), leaking(answer="ab " * 300)], "the same"),
        ([victim(prompt=""), leaking(answer="")], "there is no text"),
        ([victim(prompt="short"), leaking(answer="short")], "there is too little text for a window"),
        ([victim(answer=SECRET, prompt=OWN), leaking()], "both asked the same question"),
    ],
)
def test_what_has_another_reason_is_no_match(records, why):
    """Its own prompt, its owner, the time, the size, or that it says little."""
    ended = {"ended": BEGIN_MS / 1000 + 61}
    assert log(*(record | (ended if record["name"] == "b" else {}) for record in records)) == (), why
