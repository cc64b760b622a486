import random
import re

from hypothesis import given
from hypothesis import strategies as st

from kvfence.probe.markers import ALPHABET, SHAPE, Place, is_ours, make_marker, markers_in, pieces_in, was_planted_at

PLACES = st.builds(Place, st.sampled_from(["a", "b"]), st.integers(0, 99), st.integers(1, 3))


@given(seed=st.integers(), place=PLACES, other=PLACES)
def test_a_marker_is_known_as_ours_and_attributed_to_its_place_alone(seed, place, other):
    """With the key it belongs to one place; without it, still to a campaign of ours."""
    marker = make_marker(random.Random(seed), b"key", place).text
    assert is_ours(marker)
    assert was_planted_at(marker, b"key", place)
    assert was_planted_at(marker, b"key", other) == (other == place)
    assert not was_planted_at(marker, b"other", place)


@given(seed=st.integers(), at=st.integers(0, 24), letter=st.sampled_from(ALPHABET))
def test_a_look_alike_is_not_ours(seed, at, letter):
    """One changed character of the random part or its sign makes a look-alike of it."""
    marker = make_marker(random.Random(seed), b"key", Place("a", 1, 1)).text
    plain = marker.replace("-", "")
    changed = plain[:at] + letter + plain[at + 1 :]
    look_alike = "-".join(changed[start : start + 5] for start in range(0, 25, 5))
    assert is_ours(look_alike) == (changed == plain or (at >= 21 and changed[:21] == plain[:21]))


def test_markers_are_found_in_an_answer_whatever_stands_around_them():
    """In order, in lower case too, and never a part of something longer."""
    one, two = (make_marker(random.Random(seed), b"k", Place("a", seed, 1)).text for seed in (1, 2))
    assert markers_in(f"1-CODE-1: {one}; then {two.lower()}.") == [one, two]
    assert markers_in(f"x{one}0") == []


@given(seed=st.integers(), cut=st.integers(0, 17), length=st.integers(17, 29))
def test_any_seventeen_characters_of_a_marker_hold_a_piece_of_it(seed, cut, length):
    """Cut anywhere, two whole groups are left, and they are the marker's."""
    marker = make_marker(random.Random(seed), b"k", Place("a", 1, 1)).text
    shown = marker[min(cut, len(marker) - 17) :][:length]
    assert pieces_in(f"; {shown}") & pieces_in(marker)


def test_a_marker_spliced_into_another_is_seen():
    """Copying that jumps from one marker into the next shows pieces of both, and a whole one after a stray group."""
    one, two = (make_marker(random.Random(seed), b"k", Place("a", seed, 1)).text for seed in (1, 2))
    spliced = pieces_in(one[:12] + two[12:])
    assert spliced & pieces_in(one)
    assert spliced & pieces_in(two)
    assert two in markers_in(f"{one[:6]}{two}")


def test_no_marker_has_the_shape_of_a_real_key():
    """No prefix that a secret scanner or a provider's filter would trip over."""
    real = re.compile(r"AKIA|ghp_|sk-|eyJ|xox[bp]-|AIza")
    markers = [make_marker(random.Random(seed), b"k", Place("a", seed, 1)).text for seed in range(500)]
    assert not any(real.search(marker) for marker in markers)
    assert all(SHAPE.fullmatch(marker) for marker in markers)
    assert len(set(markers)) == 500
