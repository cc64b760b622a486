"""A marker goes out of an answer with its sentence, in whatever pieces the answer comes."""

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.probe.canaries.stripping import HELD_CHARS_MAX, Stripper, stripped
from kvfence.probe.canaries.wording import LABEL, bare_atoms, carrier_atoms, whole
from kvfence.probe.markers import Place, make_marker

OWN, OTHER = (make_marker(random.Random(seed), b"k", Place("a", seed, 1)).text for seed in (1, 2))
FULL = re.compile("|".join(map(whole, (carrier_atoms(), bare_atoms(OWN)))), re.IGNORECASE)

FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            *(
                LABEL,
                "canary code",
                "**Canary code:** `",
                "CANARY CODE IS ",
                "can",
                "The canary",
                " ",
                "\n",
                "\n\n",
                ".",
            ),
            *(OWN, OWN.lower(), OTHER, OWN[:17], OWN[12:], OWN.replace("-", "\u2011"), "*", "`", "42", "Yes. "),
            *(f"\n\n{LABEL} {OWN}.", f"{LABEL} {OTHER}", f"\n**{LABEL}** `{OWN}`\n"),
        ]
    ),
    st.text(alphabet="canrycode: \n*-.XK7é", max_size=6),
)
ANSWERS = st.lists(FRAGMENTS, max_size=12).map("".join)


def by_substitution(answer: str) -> str:
    """The same, told again: every carrier of the whole text, and no empty lines before what then begins it."""
    first = FULL.match(answer)
    rest = FULL.sub("", answer)
    return rest.lstrip() if first else rest


def in_pieces(answer: str, cuts: list[int]) -> str:
    stripper = Stripper(OWN)
    edges = [0, *sorted(cut % (len(answer) + 1) for cut in cuts), len(answer)]
    shown = [stripper.feed(answer[start:stop]) for start, stop in pairwise(edges)]
    return "".join(shown) + stripper.close()


@given(answer=ANSWERS, cuts=st.lists(st.integers(0, 1000), max_size=8))
def test_an_answer_in_pieces_is_stripped_like_the_whole(answer, cuts):
    """Wherever it is cut, and by whatever is around the marker."""
    assert in_pieces(answer, cuts) == by_substitution(answer)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (f"It is 42.\n\n{LABEL} {OWN}.", "It is 42."),
        (f"It is 42.\n**{LABEL}** `{OWN.lower()}`", "It is 42."),
        (f"{LABEL} {OWN}\n\nIt is 42.\n", "It is 42.\n"),
        (f"Good.\n\n{LABEL} {OWN}.\n\nBad.", "Good.\n\nBad."),
        (f"It is {OWN}.", "It is"),
        (f"> {LABEL} {OTHER}\n\nIt is 42.", "It is 42."),
        (f"It is 42. ({OWN})", "It is 42."),
        ("The canary sang. Canary code: none.", "The canary sang. Canary code: none."),
        ("Key: 7K2QF-9YTTX-CBTYK-K38TA-AW8AY", "Key: 7K2QF-9YTTX-CBTYK-K38TA-AW8AY"),
    ],
)
def test_what_is_left_reads_as_if_nothing_had_been_asked(answer, left):
    """Each at every place where it can be cut in two, and letter by letter."""
    assert stripped(answer, OWN) == left
    assert {in_pieces(answer, [cut]) for cut in range(len(answer) + 1)} == {left}
    assert in_pieces(answer, list(range(len(answer)))) == left


@given(answer=ANSWERS, cuts=st.lists(st.integers(0, 1000), max_size=8))
def test_a_stream_is_never_further_behind_than_a_carrier_is_long(answer, cuts):
    """What is held back at any time is a beginning of one."""
    stripper = Stripper(OWN)
    edges = [0, *sorted(cut % (len(answer) + 1) for cut in cuts), len(answer)]
    for start, stop in pairwise(edges):
        stripper.feed(answer[start:stop])
        assert len(stripper._held) <= HELD_CHARS_MAX
    assert HELD_CHARS_MAX < 100


def test_plain_text_is_held_back_by_a_word_at_most():
    """A letter that no carrier begins with lets everything before it through."""
    stripper = Stripper(OWN)
    assert stripper.feed("It is 42 and") == "It is 42 and"
    assert stripper.feed(" a c") == " a"
    assert stripper.feed("at.") == " cat."


def test_what_is_held_back_can_be_had_as_it_came():
    """Where a caller stops, nothing of the answer is kept from it."""
    stripper = Stripper(OWN)
    assert stripper.feed(f"42\n{LABEL} {OWN[:9]}") == "42"
    assert stripper.release() == f"\n{LABEL} {OWN[:9]}"
