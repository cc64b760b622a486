"""Which depths came back: counted over answers, added up over rows, seen from outside as the server behaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.findings.depth_recall import NO_ANSWER, DepthRecall, added
from kvfence.findings.recall import LengthVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from support.probe_servers import Behaviour, endpoint

ANSWERS = st.lists(st.lists(st.booleans(), min_size=4, max_size=4))
A, B = (Tenant(name=f"tenant-{letter}", salt=f"salt-{letter}") for letter in "ab")


@given(ANSWERS)
def test_shares_are_counts_over_answers(answers):
    """Each depth's share is that of the answers in which it came back, also with answers that say nothing between."""
    recalls = [DepthRecall(tuple(map(int, answer)), 1) for answer in answers]
    total = added([NO_ANSWER, *recalls, NO_ANSWER])
    assert total.answers == len(answers)
    expected = [sum(answer[depth] for answer in answers) / len(answers) for depth in range(4)] if answers else []
    assert list(total.shares) == expected


def test_prompts_with_other_markers_are_not_added_up():
    """A depth of five is not a depth of four."""
    with pytest.raises(ValueError, match="shorter"):
        added([DepthRecall((1, 1, 1), 1), DepthRecall((1, 1), 1)])


def probed(behaviour):
    with endpoint(behaviour) as server:
        target = Target(base_url=server.url, timeout_s=20)
        return run(Options(target=target, seeders=(A,), harvester=B, bounds=Bounds(), seed=7, key=b"key"))


def test_a_row_tells_the_depths_of_its_answers():
    """All of them below the limit, none past it; nothing is said of a refusal."""
    result = probed(Behaviour(limit=5312, beyond="generic"))
    for row in result.lengths:
        assert row.by_depth.answers == (row.asked if row.status == 200 else 0)
        if row.status == 200:
            assert set(row.by_depth.shares) == {float(row.tokens <= 5312)}
    assert [row.by_depth.shares for row in result.lengths if row.verdict is LengthVerdict.REFUSED] == [()]


def test_what_is_verified_ends_below_the_first_doubt():
    """The longest clean length under the limit, however much is declared."""
    result = probed(Behaviour(limit=5312, beyond="generic"))
    clean = [row.tokens for row in result.lengths if row.verdict is LengthVerdict.CLEAN]
    assert result.verified_tokens == max(clean) <= 5312


def test_what_is_refused_though_declared_is_named():
    """The lengths of the refusals under the declared context, and none past it."""
    result = probed(Behaviour(limit=5312, beyond="refuse"))
    assert result.refused_though_declared
    assert all(5312 < tokens < 8192 for tokens in result.refused_though_declared)
    assert probed(Behaviour()).refused_though_declared == ()


def test_times_are_measured():
    """Each row has the time of its requests, and the run is not shorter than any."""
    result = probed(Behaviour())
    assert 0 < max(row.seconds for row in result.lengths) <= result.seconds
