"""Figures that do not mean what they look like, and the requests that findings name."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.audit_logs import HEADLINE, audited

HYBRID = "INFO [config.py:1] Padding mamba page size by 1.02% to ensure that mamba page size and attention are equal\n"
V1 = "INFO [kv_cache_utils.py:1] GPU KV cache size: {pool} tokens\n"
MOST = "INFO [kv_cache_utils.py:2] Maximum concurrency for {context} tokens per request: 2.00x\n"
WINDOW = "[2026-01-31 13:50:39] Use sliding window memory pool. full_layer_tokens=2000, swa_layer_tokens={swa}\n"


def gaps(folder: Path, log: str) -> str:
    return " ".join(gap.why for gap in audited(folder, log).not_checked)


@pytest.mark.parametrize(("log", "told"), [(HYBRID, True), ("", False)])
def test_of_a_hybrid_model_the_figure_is_told_to_be_derived(tmp_path: Path, log: str, told: bool):
    """VLLM's tokens of a hybrid model are no capacity, and the report says so; of any other model they are."""
    text = log + V1.format(pool="9,000") + MOST.format(context="4,500")
    assert ("9,000 tokens that vLLM prints" in gaps(tmp_path, text)) == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", True),
        ("INFO [factory.py:1] Creating v1 connector with name: LMCacheMPConnector and engine_id: 0\n", False),
        ("INFO [core.py:1] Initializing a V1 LLM engine (v0.11.0) with config: model='/m', seed=0\n", False),
    ],
)
def test_one_server_by_silence_is_told_where_nothing_shows_that_a_connector_would_be_named(
    tmp_path: Path, line: str, told: bool
):
    """Two lines cut out of a log say a pool and a context, and not that no half of a pair printed them."""
    text = line + V1.format(pool="9,000") + MOST.format(context="4,500")
    assert ("taken for one server for both roles" in gaps(tmp_path, text)) == told


def test_a_figure_to_doubt_does_not_decide(tmp_path: Path):
    """A doubt about what a figure means is told and leaves the verdict as it is."""
    text = HYBRID + V1.format(pool="9,000") + MOST.format(context="4,500")
    assert audited(tmp_path, text).verdict.value == "clean"


@pytest.mark.parametrize(("swa", "told"), [(300, True), (1500, False)])
def test_a_window_pool_below_the_full_one_is_told_where_the_limit_is_not_known(tmp_path: Path, swa: int, told: bool):
    """Both figures are told, and where the true limit can be had."""
    text = WINDOW.format(swa=swa) + HEADLINE.format(rank="", pool=2000, context=1000)
    assert ("its pool for sliding windows holds 300" in gaps(tmp_path, text)) == told


def test_a_finding_names_the_requests_that_it_is_about(tmp_path: Path):
    """The requests whose blocks were read too late are named, and that there are more."""
    line = "ERROR [nixl.py:1] Potentially invalid KV blocks for unrecognized request r{} were retrieved by a decode"
    lines = "\n".join(line.format(number) for number in range(30))
    (finding,) = [found for found in audited(tmp_path, lines).findings if found.rule == "expired-blocks-read"]
    assert "30 times" in finding.message
    assert "Requests: r0, r1, " in finding.message
    assert "r19, …" in finding.message
    assert [place.line for place in finding.evidence] == [1, 2, 3, 4, 30]


def test_a_vllm_that_will_not_start_is_told_with_the_length_that_would_fit(tmp_path: Path):
    """The engine's own estimate is what its memory holds; the fix keeps the block that serves nobody."""
    line = (
        "ValueError: To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (3.18 GiB). Based on the available memory, the "
        "estimated maximum model length is 34736. Try increasing"
    )
    (finding,) = [found for found in audited(tmp_path, line).findings if found.rule == "pool-below-context"]
    assert "34,736" in finding.message
    assert "--max-model-len 34720" in finding.fix
