"""What vLLM keeps back by release: the sort of all logits, and the communicators."""

from typing import Any

import pytest

from kvfence.errors import UsageError
from kvfence.plan.predict import Model, predict
from kvfence.plan.reserves import MEASURED, Links
from kvfence.plan.setting import Engine, release_of
from kvfence.plan.vllm_profile import SORTED_BYTES, kept_back
from kvfence.plan.weights import GIB
from support.plan_models import config_of, setting_of

QWEN = config_of("qwen3-235b-a22b-fp8")


def _kept(**changed: Any):
    return kept_back(QWEN, setting_of(Engine.VLLM, "h100", **changed)).likely


@pytest.mark.parametrize(
    ("version", "release"), [("0.10.2", (0, 10)), ("v0.9.1rc1", (0, 9)), ("0.6.3.post1", (0, 6)), ("1.0", (1, 0))]
)
def test_a_version_is_read_as_an_engine_logs_it(version, release):
    """Only its first two numbers matter."""
    assert release_of(version) == release


@pytest.mark.parametrize("version", ["", "0", "latest", "0.x", "0.1234", "\u0660.\u0661"])
def test_what_is_no_version_is_refused(version):
    """One line that says how to give it."""
    with pytest.raises(UsageError, match=r"such as 0\.10\.2"):
        release_of(version)


def test_sglang_has_one_formula():
    """An option that would change nothing is not taken in silence."""
    with pytest.raises(UsageError, match="--engine vllm"):
        setting_of(Engine.SGLANG, release=(0, 5))


def test_a_sort_of_all_logits_is_what_an_old_release_keeps_back():
    """1,024 requests of Qwen3's 151,936 words by 38 bytes are 5.5 GiB, and a fifth of the requests a fifth of it."""
    assert SORTED_BYTES == 38
    many, few = _kept(tp=1, release=(0, 16), chunk=64), _kept(tp=1, release=(0, 16), chunk=64, running=205)
    assert many - few == pytest.approx((1024 - 205) * 151_936 * 38)
    assert many == pytest.approx(5.5 * GIB, abs=0.3 * GIB)
    assert _kept(tp=1, release=(0, 17), chunk=64) < few + GIB


def test_communicators_are_charged_before_011_and_only_where_there_are_any():
    """One GPU has none; of four, those that other servers' logs show over NVLink."""
    links = (MEASURED[Links.NVLINK].likely - MEASURED[Links.ALONE].likely) * GIB
    assert _kept(tp=4, release=(0, 10)) - _kept(tp=4, release=(0, 11)) == pytest.approx(links)
    assert _kept(tp=1, release=(0, 10)) == _kept(tp=1, release=(0, 11))


@pytest.mark.parametrize("release", [(0, 6), (0, 10), (0, 16), (0, 17), (0, 22), (0, 23), None])
def test_low_likely_and_high_stand_in_order(release):
    """Whatever the release; and one before 0.23 has the fraction of its time."""
    pool = predict(Model(config=QWEN), setting_of(Engine.VLLM, "h200", tp=4, per_node=4, release=release)).pool
    assert 0 < pool.low < pool.likely < pool.high
