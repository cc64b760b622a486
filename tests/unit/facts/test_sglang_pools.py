"""SGLang's pools where there is more than one: of ranks, of a draft model, of windows, of states."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.audit_logs import HEADLINE, only_node, values

WINDOW = "[2026-01-31 13:50:39 TP0] Use sliding window memory pool. full_layer_tokens={full}, swa_layer_tokens={swa}\n"
OLD = (
    "[2026-01-31 13:50] Request length is longer than the KV cache pool size or the max context length. Truncated!!!\n"
)
ALLOCATED = "[2026-01-31 13:50:39 TP{rank}] KV Cache is allocated. #tokens: {tokens}, KV size: 1.00 GB\n"


def headline(pool: int, context: int = 1000, rank: str = "") -> str:
    return HEADLINE.format(rank=rank, pool=pool, context=context) + "\n"


def test_the_smallest_dp_rank_is_the_nodes_pool(tmp_path: Path):
    """Every DP rank has a pool of its own, and a prompt may come to any of them."""
    ranks = "".join(headline(pool, rank=f" DP{rank} TP{rank}") for rank, pool in enumerate((900, 700, 800)))
    assert only_node(tmp_path, ranks).number("pool_tokens") == 700


def test_a_draft_models_pool_does_not_count(tmp_path: Path):
    """The draft's pool is printed in the same words; alone the two say nothing, and the headline decides."""
    pools = ALLOCATED.format(rank=0, tokens=900) + ALLOCATED.format(rank=0, tokens=450)
    assert only_node(tmp_path, pools).number("pool_tokens") is None
    assert only_node(tmp_path, pools + headline(880)).number("pool_tokens") == 880


def test_a_window_pool_that_is_larger_changes_nothing(tmp_path: Path):
    """Where the window pool holds the context, the limit follows from pool and context as ever."""
    found = values(only_node(tmp_path, WINDOW.format(full=2000, swa=1500) + headline(2000)))
    assert (found["pool_tokens"], found["swa_pool_tokens"], found["usable_length"]) == (2000, 1500, 993)


def test_a_smaller_window_pool_leaves_the_limit_unknown(tmp_path: Path):
    """Which of two pools limits a prompt depends on the version, which the log does not say: no limit is claimed."""
    found = values(only_node(tmp_path, WINDOW.format(full=2000, swa=300) + headline(2000)))
    assert (found["swa_pool_tokens"], found.get("usable_length")) == (300, None)


def test_of_an_old_version_the_smaller_window_pool_is_the_limit(tmp_path: Path):
    """Where a line shows that the version is older than 0.5.12, the smaller pool is the limit."""
    found = values(only_node(tmp_path, WINDOW.format(full=2000, swa=300) + headline(2000) + OLD))
    assert (found["max_req_input_len"], found["usable_length"]) == (294, 293)


@pytest.mark.parametrize(("queue", "usable"), [(500, 500), (5000, 993)])
def test_the_smaller_of_two_doors_is_the_longest_prompt(tmp_path: Path, queue: int, usable: int):
    """The queue of a prefill worker may refuse what the scheduler would take, and the other way round."""
    refused = f"[2026-01-31 13:50:41] Request 8f07 exceeds the maximum number of tokens: 9999 > {queue}\n"
    assert only_node(tmp_path, headline(2000) + refused).number("usable_length") == usable


def test_states_are_counted_in_slots(tmp_path: Path):
    """A model with state has slots for requests; the fewest over the ranks count."""
    line = "[2026-01-31 13:50:39 TP{}] Mamba Cache is allocated. max_mamba_cache_size: {}, conv_state size: 0.01GB\n"
    assert only_node(tmp_path, line.format(0, 40) + line.format(1, 38)).number("mamba_pool_slots") == 38


def test_post_capture_sizing_overrides_what_was_said_before(tmp_path: Path):
    """The pools that are sized after the graphs were captured are the ones there are."""
    later = "[2026-01-31 13:50:41 TP0] Post-capture KV sizing: full_layer_tokens=1800, swa_layer_tokens=900\n"
    found = values(only_node(tmp_path, WINDOW.format(full=2000, swa=1500) + later))
    assert (found["pool_tokens"], found["swa_pool_tokens"]) == (1800, 900)
