"""A sentence in somebody's text stands where it breaks nothing."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.probe.canaries.places import gap

HERE = "Here it is."
PROSE = "\n\n".join(f"Paragraph {number} says this. And it says that." for number in range(40))
DEPTHS = st.floats(0, 1)

JSONS = st.recursive(
    st.one_of(st.text(max_size=12), st.integers(), st.just("One. Two! Three?"), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)),
    max_leaves=12,
)


@given(text=st.text(alphabet="aB. \n`{}\t", max_size=200), depth=DEPTHS)
def test_the_text_stays_as_it_was_around_the_sentence(text, depth):
    """Nothing of it is changed or lost, whatever it is."""
    place = gap(text, depth)
    assert place.fill(text, HERE) == text[: place.at] + place.before + HERE + place.after + text[place.at :]
    assert place.fill(text, HERE).replace(place.before + HERE + place.after, "", 1) == text


@pytest.mark.parametrize("depth", [0.1, 0.5, 0.9])
def test_it_goes_between_paragraphs_near_the_wanted_depth(depth):
    """As a paragraph of its own."""
    place = gap(PROSE, depth)
    assert abs(place.at / len(PROSE) - depth) < 0.03
    assert f"\n\n{HERE}\n\nParagraph" in place.fill(PROSE, HERE)


def test_the_ends_are_the_ends():
    """0 is before everything, 1 behind it."""
    assert gap(PROSE, 0).fill(PROSE, HERE).startswith(f"{HERE}\n\nParagraph 0")
    assert gap(PROSE, 1).fill(PROSE, HERE).endswith(f"that.\n\n{HERE}")


@given(depth=st.floats(0.01, 0.99))
def test_it_never_goes_into_fenced_code(depth):
    """Nor where code has what looks like paragraphs and sentences."""
    code = "```python\n" + "\n\n".join(f"X_{number} = 'One. Two.'" for number in range(60)) + "\n```"
    text = f"First this.\n\n{code}\n\nThen that.\n\nAnd the end."
    assert code in gap(text, depth).fill(text, HERE)


@given(value=JSONS, indent=st.sampled_from([None, 2]), depth=st.floats(0.01, 0.99))
def test_json_stays_json(value, indent, depth):
    """On one line or on many: before it, behind it, or within a text of it, where it does no harm."""
    shown = json.dumps(value, indent=indent, ensure_ascii=False)
    filled = gap(shown, depth).fill(shown, HERE)
    assert shown in filled or json.loads(filled)


def test_a_long_line_without_paragraphs_is_not_passed_over_for_a_far_one():
    """Depth is kept where only sentences can be told apart."""
    text = "This is a sentence. " * 5_000 + "\n\nWhat is it?"
    assert abs(gap(text, 0.5).at / len(text) - 0.5) < 0.03


def test_a_place_in_a_prompt_of_a_million_tokens_is_found_at_once():
    """Four megabytes, well under a second on a busy machine."""
    text = PROSE * (4_000_000 // len(PROSE))
    began = time.process_time()
    gap(text, 0.37)
    assert time.process_time() - began < 1
