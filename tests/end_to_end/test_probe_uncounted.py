"""The probe, over real HTTP, against endpoints that count nothing before they are asked; some say usage."""

from dataclasses import replace

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Options, Target, Tenant, run
from kvfence.probe.counting import Counter
from support.probe_servers import Behaviour, endpoint

BYTES = Behaviour(declared=1024, counts=())
"""Each byte is a token, and nobody says so before a prompt is answered."""
SILENT = replace(BYTES, says_usage=False)
"""Nor afterwards."""
A, B = (Tenant(name=f"tenant-{name}", salt=name) for name in "ab")


async def bytes_of(text):
    return len(text)


def probed(behaviour, depths, counter=None):
    with endpoint(behaviour) as server:
        target = Target(base_url=server.url, timeout_s=20)
        options = Options(target=target, seeders=(A,), harvester=B, seed=7, key=b"key", depths=depths, counter=counter)
        return run(options), [len(asked["messages"][0]["content"]) for asked in server.asked]


@pytest.mark.parametrize("behaviour", [BYTES, SILENT], ids=["usage", "silent"])
@pytest.mark.parametrize(("declared", "depths"), [(1024, 2), (1024, 5), (2048, 5), (3000, 5), (4096, 16), (16_384, 5)])
def test_the_control_fits_though_each_byte_is_a_token(behaviour, declared, depths):
    """Before anything is known of a tokenizer, no prompt is sent that may not fit with its answer."""
    result, sizes = probed(replace(behaviour, declared=declared), depths)
    assert result.lengths[0].verdict is LengthVerdict.CLEAN
    assert sizes[0] <= max(768, declared * 3 // 4)


@pytest.mark.parametrize(("declared", "depths", "verified"), [(1024, 2, 910), (1024, 5, 787), (4096, 16, 3376)])
def test_usage_alone_verifies_a_short_context_to_its_end(declared, depths, verified):
    """The control's usage is enough to meet the longest length, which is longer than the control; no alarm, no gap."""
    result, sizes = probed(replace(BYTES, declared=declared), depths)
    assert (result.verdict, result.verified_tokens) == (ProbeVerdict.CLEAN, verified)
    assert sizes[-1] == declared + 64


def test_where_nobody_counts_a_refusal_within_the_context_is_no_overstated_limit():
    """The prompt may have been longer than was guessed: inconclusive, with what to do; and that helps."""
    result, _ = probed(SILENT, 2)
    assert result.verdict is ProbeVerdict.INCONCLUSIVE
    assert "--tokenizer" in result.reason
    assert result.token_count_by.startswith("nobody")
    assert result.refused_though_declared == ()
    counted, _ = probed(SILENT, 2, Counter(bytes_of, "a tokenizer"))
    assert (counted.verdict, counted.verified_tokens) == (ProbeVerdict.CLEAN, 910)


@pytest.mark.parametrize("says_usage", [True, False])
def test_an_overstated_limit_is_told_where_tokens_are_counted_at_all(says_usage):
    """By usage of shorter prompts: the same endpoint that says none leaves it open."""
    behaviour = replace(SILENT, declared=16_384, limit=5312, beyond="refuse", says_usage=says_usage)
    result, _ = probed(behaviour, 5)
    assert result.verdict is (ProbeVerdict.LIMIT_OVERSTATED if says_usage else ProbeVerdict.INCONCLUSIVE)


def test_english_tokens_of_a_short_context_are_met_by_the_first_usage():
    """Where a token is four characters, the short control is shorter than it might be, and lengths are still met."""
    result, _ = probed(replace(BYTES, declared=2048, chars_a_token=4.0), 5)
    assert result.verdict is ProbeVerdict.CLEAN
    assert result.verified_tokens == pytest.approx(2048 - 237, abs=8)
