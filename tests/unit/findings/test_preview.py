"""Of a stretch that is shown: little of it, printable, and no secret, wherever it was cut."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.preview import READABLE_CHARS_MAX, Preview, preview_of
from support.planted_secrets import CARRIERS, KINDS, planted

PROSE = "The merger of the two companies was agreed on Tuesday, and nobody else knows of it yet."
SHOWN_OF_A_SECRET = 16
"""A key's public beginning, of up to eleven characters, and a few of its own: no value can be used by so much."""
HOST = "https://hooks.slack.com/services/"
"""What is public of a value that is an address."""


def is_shown(value: str, text: str) -> bool:
    """Whether more characters in a row of the value than that are in the text."""
    size = SHOWN_OF_A_SECRET + 1
    parts = {value[at : at + size] for at in range(len(value) - size + 1)}
    return any(text[at : at + size] in parts for at in range(len(text) - size + 1))


def secret_parts(value: str) -> list[str]:
    """Without what is public of it: a host, the armour around a key."""
    return [line for line in value.removeprefix(HOST).splitlines() if not line.startswith("-----")]


def test_the_search_finds_what_is_shown():
    """A control: that check can fail."""
    value = planted(random.Random(1), "github-pat").value
    assert is_shown(value, f"x{value[:17]}y")
    assert not is_shown(value, f"x{value[:16]}y")


def test_by_default_next_to_nothing_is_shown():
    """Four characters and a count."""
    assert preview_of(PROSE, Preview.REDACTED) == f"The … ({len(PROSE) - 4} more)"


def test_a_readable_preview_can_be_read():
    """Words stay, and what was left out is counted."""
    assert preview_of(PROSE, Preview.READABLE) == PROSE
    many = preview_of(f"{PROSE} " * 30, Preview.READABLE)
    assert many.startswith(PROSE)
    assert many.endswith(f"… (of {len(PROSE) * 30 + 29} characters)")
    assert len(many) < READABLE_CHARS_MAX + 30


@pytest.mark.parametrize(
    "said",
    [
        "my password is hunter2",
        "PIN: 4711",
        "card 4111 1111 1111 1111",
        "write to jo@example.com",
        "the secret was xyzzy",
        "api key = qwerty",
    ],
)
def test_figures_addresses_and_what_is_said_to_be_a_secret_are_left_out(said):
    """However short and plain they are."""
    value = said.split()[-1]
    assert value not in preview_of(f"So {said} and that is all there is.", Preview.READABLE)


@pytest.mark.parametrize("kind", KINDS)
def test_no_secret_is_shown_in_any_carrier_wherever_the_stretch_is_cut(kind):
    """It begins before the secret, in its middle, or ends in it."""
    rng = random.Random(kind)
    for carrier in CARRIERS.values():
        one = planted(rng, kind)
        written = carrier(one.written)
        for start in range(0, len(written), 7 + len(written) // 60):
            text = preview_of(written[start:], Preview.READABLE) + preview_of(written[:start], Preview.READABLE)
            assert not any(is_shown(part, text) for part in secret_parts(one.value)), (written[start:][:80], text)


@given(st.text(max_size=40), st.sampled_from(Preview))
def test_a_preview_is_one_printable_line_of_bounded_length(text, how):
    """Whatever stands in a log."""
    shown = preview_of(text * 20, how)
    assert shown.isprintable()
    assert len(shown) <= READABLE_CHARS_MAX + 30
