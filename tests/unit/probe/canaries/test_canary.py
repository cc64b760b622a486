"""Three lines: bury, ask, check."""

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence import probe
from kvfence.errors import UsageError
from kvfence.probe.canaries.canary import Canary
from kvfence.probe.canaries.memory import Memory
from kvfence.probe.canaries.wording import ASK, LABEL
from kvfence.probe.markers import Place, make_marker, markers_in

PROMPT = "The river rose.\n\nThe cedar fell.\n\nWhat rose?"


def pair():
    memory = Memory()
    return tuple(Canary(owner=name, registry=memory, rng=random.Random(name)) for name in ("one", "two"))


def marker_of(prompt: str) -> str:
    return markers_in(prompt)[-1]


def test_a_marker_that_comes_back_is_clean_and_taken_out():
    """The answer is what it would have been."""
    canary = probe.canary()
    buried = canary.bury(PROMPT)
    result = canary.check(f"The river.\n\n{LABEL} {marker_of(buried)}.")
    assert (result.verdict, result.ok, result.answer) == (probe.CanaryVerdict.CLEAN, True, "The river.")


def test_the_prompt_is_whole_around_the_marker_and_ends_in_the_ask():
    """Nothing else is added, and each marker is another one."""
    canary = probe.canary(depth=0.4)
    buried = canary.bury(PROMPT)
    assert buried.endswith(ASK)
    assert buried.removesuffix(ASK).replace(f"{LABEL} {marker_of(buried)}.\n\n", "") == PROMPT
    assert marker_of(canary.bury(PROMPT)) != marker_of(buried)


@pytest.mark.parametrize("cut_at", [0, 12])
def test_another_ones_marker_is_a_leak_that_names_them(cut_at):
    """Whole or cut, and whether the own one came as well."""
    one, two = pair()
    theirs, mine = marker_of(one.bury(PROMPT)), marker_of(two.bury(PROMPT))
    for answer in (f"Rose. {theirs[cut_at:]}", f"Rose. {mine} {theirs[cut_at:]}"):
        result = two.check(answer)
        assert result.verdict is probe.CanaryVerdict.LEAK
        assert [foreign.planted_by for foreign in result.foreign] == ["one"]
        assert "planted by one" in result.detail
        assert theirs not in result.detail


def test_an_earlier_prompt_of_the_same_canary_is_another_prompt():
    """Unless its marker stands in the prompt, as in the history of a conversation."""
    one, _ = pair()
    first = one.bury(PROMPT)
    one.bury(PROMPT)
    assert one.check(marker_of(first)).verdict is probe.CanaryVerdict.LEAK
    again = one.bury(f"{first}\n\n{PROMPT}")
    assert one.check(f"{marker_of(first)}\n{marker_of(again)}").verdict is probe.CanaryVerdict.CLEAN


def test_a_marker_that_nobody_here_planted_is_a_leak_from_elsewhere():
    """It has the sign of one, so no model made it up."""
    one, _ = pair()
    one.bury(PROMPT)
    stranger = make_marker(random.Random(9), b"other", Place("x", 1, 1)).text
    result = one.check(f"{LABEL} {stranger}")
    assert result.verdict is probe.CanaryVerdict.LEAK
    assert result.foreign[0].planted_by == "outside this process"


@pytest.mark.parametrize(
    ("answer", "cut", "verdict"),
    [
        ("The river.", False, "lost"),
        ("The river.", True, "inconclusive"),
        ("The river. {start}", False, "garbled"),
        ("The river. {start}", True, "inconclusive"),
        ("The river. Canary code: AAAAA-BBBBB-CCCCC-DDDDD-EEEEE", False, "garbled"),
        ("The river. Your key is AAAAA-BBBBB-CCCCC-DDDDD-EEEEE", False, "lost"),
        ("The river. {lower}", False, "clean"),
        ("The river. {nice}", False, "clean"),
        ("The river. {spliced}", False, "garbled"),
    ],
)
def test_each_kind_of_answer_has_its_verdict(answer, cut, verdict):
    """A product key in an answer is nobody's marker."""
    one, _ = pair()
    mine = marker_of(one.bury(PROMPT))
    forms = {
        "start": mine[:11],
        "lower": mine.lower(),
        "nice": mine.replace("-", "\u2011"),
        "spliced": mine[:12] + mine[13:],
    }
    assert one.check(answer.format(**forms), cut=cut).verdict == verdict


@given(at=st.integers(0, 28), letter=st.sampled_from("0123456789ABCDEFGHJKMNPQRSTVWXYZ"))
def test_a_changed_marker_is_garbled_and_never_a_leak(at, letter):
    """Whichever of its characters was changed, also one of the part that says where it was planted."""
    one, _ = pair()
    mine = marker_of(one.bury(PROMPT))
    changed = mine[:at] + letter + mine[at + 1 :]
    expected = "clean" if changed == mine else "garbled"
    assert one.check(f"{LABEL} {changed}").verdict == expected


def test_wrong_use_is_told_in_one_line():
    """No check before anything was buried, and no depth outside the prompt."""
    with pytest.raises(UsageError, match="no marker was buried"):
        probe.canary().check("x")
    with pytest.raises(UsageError, match=r"depth of 1\.5"):
        probe.canary(depth=1.5)


def test_a_memory_is_bounded_and_forgets_the_oldest():
    """A marker that was forgotten is still known as one of kvfence."""
    memory = Memory(remembered_max=2)
    canaries = [Canary(owner=str(number), registry=memory, rng=random.Random(number)) for number in range(3)]
    first, _, last = [marker_of(canary.bury(PROMPT)) for canary in canaries]
    assert canaries[1].check(last).foreign[0].planted_by == "2"
    assert canaries[1].check(first).foreign[0].planted_by == "outside this process"


def test_a_canary_needs_no_http_client_and_kvfence_nothing_at_all():
    """What somebody's tests import is light."""
    code = (
        "import sys; before = set(sys.modules); import kvfence; assert set(sys.modules) - before == {'kvfence'}; "
        "from kvfence import probe; probe.canary().bury('x'); "
        "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['kvfence']"
