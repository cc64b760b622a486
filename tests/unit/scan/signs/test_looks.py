"""Each sign on exchanges written by hand, and what holds of all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.scan.signs.catalogue import looks
from kvfence.scan.signs.lengths import WINDOW_CHARS, WINDOWS, tokens_least
from kvfence.scan.signs.past_limit import COUNTED, PastLimit
from kvfence.scan.signs.stranger_paths import stranger_paths
from kvfence.scan.signs.told import Told
from kvfence.scan.signs.usage_disagrees import UNSEEN_TOKENS, usage_disagrees

ONE = Told(prompt="Where is the log?", prompt_is_whole=True, answer="There.", prompt_tokens=5)
H, U = "/ho" + "me/", "/Us" + "ers/"
texts = st.text(max_size=200) | st.lists(
    st.sampled_from([H, U, "a", "@", ":", "~", "\\", "C:\\Users\\", "/mnt/", "x y", "/"])
).map("".join)


@pytest.mark.parametrize(
    ("prompt", "tokens", "is_seen"),
    [
        ("word " * 1000, 1, True),
        ("word " * 1000, 999, True),
        ("word " * 1000, 1000, False),
        ("word " * 1000, 5000 + UNSEEN_TOKENS, False),
        ("word " * 1000, 5001 + UNSEEN_TOKENS, True),
        ("word " * 1000, None, False),
        (" " * 100_000, 1, False),
        ("字" * 1000, 1, True),
        ("字" * 1000, 500, False),
        ("Hi", 1, False),
        ("", 1, False),
    ],
)
def test_a_count_that_cannot_be_is_a_sign(prompt, tokens, is_seen):
    """Fewer tokens than words, or more than bytes and what a provider may add; blanks may be few tokens."""
    assert (usage_disagrees(replace(ONE, prompt=prompt, prompt_tokens=tokens)) is not None) is is_seen


def test_a_cut_prompt_may_have_been_longer():
    """Too many tokens for what was kept says nothing; too few does."""
    cut = replace(ONE, prompt="word " * 1000, prompt_is_whole=False)
    assert usage_disagrees(replace(cut, prompt_tokens=10**6)) is None
    assert usage_disagrees(replace(cut, prompt_tokens=1)) is not None


def test_a_long_prompt_is_counted_in_windows():
    """The estimate is that of the whole where the text is the same throughout."""
    text = "word " * (WINDOW_CHARS * WINDOWS)
    assert tokens_least(text) == pytest.approx(len(text) / 5, rel=0.001)


@pytest.mark.parametrize(
    ("prompt", "tokens", "strength"),
    [
        ("x", 101, COUNTED),
        ("x", 100, None),
        ("x" * 840, 1, pytest.approx(1.0)),
        ("x" * 420, 1, None),
        ("x" * 840, None, pytest.approx(1.0)),
    ],
)
def test_a_prompt_over_the_limit_that_was_answered_is_a_sign(prompt, tokens, strength):
    """By its count, or by its bytes where the count is small or missing."""
    seen = PastLimit(100)(replace(ONE, prompt=prompt, prompt_tokens=tokens))
    assert (seen and seen.strength) == strength


@pytest.mark.parametrize(
    ("answer", "is_seen"),
    [
        (f"See {H}mkowalski/src/a.py.", True),
        (f"See {U}mkowalski/src/a.py.", True),
        ("See C:\\Users\\mkowalski\\a.py.", True),
        ("mkowalski@build-07:~$ ls", True),
        ("in /mnt/tariffs/jobs/7/out.csv", True),
        (f"See {H}user/a.py, {H}ubuntu/b, {U}yourname/c, {H}<name>/d.", False),
        ("user@example.com:~$ ls", False),
        ("in /var/log/nginx/error.log and /opt/homebrew/bin/python", False),
        (f"https://github.com{H}mkowalski/x", False),
        ("GET /api/v1/users/7", False),
    ],
)
def test_a_path_that_the_prompt_does_not_know_is_a_sign(answer, is_seen):
    """Homes, shells and disks with a name of their own; not what stands in every tutorial."""
    assert (stranger_paths(replace(ONE, answer=answer)) is not None) is is_seen
    assert stranger_paths(replace(ONE, prompt=f"Why? {answer}", answer=answer)) is None
    assert stranger_paths(replace(ONE, answer=answer, prompt_is_whole=False)) is None


def test_evidence_shows_no_name_whole():
    """A stranger's name may be a customer's."""
    seen = stranger_paths(replace(ONE, answer=f"{H}mkowalski/a mkowalski@build-07:~$"))
    assert seen is not None
    assert seen.evidence == f"not in the prompt: {H}mkow… (5 more), mkow… (5 more)@buil… (4 more)"


@given(texts, texts, st.none() | st.integers(0, 10**7), st.booleans())
def test_every_sign_is_a_function_with_a_strength_and_short_evidence(prompt, answer, tokens, whole):
    """The same of the same; over nothing; printable."""
    told = Told(prompt=prompt, prompt_is_whole=whole, answer=answer, prompt_tokens=tokens)
    for look in looks(10).values():
        seen = look(told)
        assert seen == look(told)
        if seen is not None:
            assert seen.strength > 0
            assert len(seen.evidence) < 600


@given(texts)
def test_an_answer_that_repeats_its_prompt_brings_no_stranger(text):
    """Whatever stands in the prompt is known."""
    assert stranger_paths(replace(ONE, prompt=text, answer=text)) is None
