"""Several ranks, restarts, servers and printers in one log."""

from __future__ import annotations

from pathlib import Path

from kvfence.facts.fact import Kind
from support.audit_logs import HEADLINE, INCIDENT, only_node, reading, values, wrapped
from support.audit_logs import WRAPPINGS as ALL

PREFILL = (INCIDENT / "sglang-0.5.19-prefill.log").read_text("utf-8")
DECODE = (INCIDENT / "sglang-0.5.19-decode.log").read_text("utf-8")
COMPOSE = next(wrapping for wrapping in ALL if wrapping.name == "compose")


def _names(folder: Path, text: str) -> list[str]:
    return [node.name for node in reading(folder, text).nodes]


def test_the_smallest_rank_decides(tmp_path: Path):
    """A node whose DP ranks have different pools has the smallest of them."""
    text = "\n".join(
        HEADLINE.format(rank=f" DP{rank} TP0", pool=pool, context=512) for rank, pool in ((0, 900), (1, 700))
    )
    assert values(only_node(tmp_path, text))["pool_tokens"] == 700


def test_a_restart_is_another_node(tmp_path: Path):
    """Two starts in one log are two nodes, and the first is superseded."""
    first, second = reading(tmp_path, PREFILL + PREFILL).nodes
    assert (first.name, first.superseded) == ("node#1", True)
    assert (second.name, second.superseded) == ("node#2", False)
    assert values(first) == values(second)


def test_two_roles_behind_one_another_are_two_nodes(tmp_path: Path):
    """Prefill's and decode's logs in one file are two nodes, and neither supersedes the other."""
    nodes = reading(tmp_path, PREFILL + DECODE).nodes
    found = [(node.text("role"), node.number("pool_tokens"), node.superseded) for node in nodes]
    assert found == [("prefill", 128, False), ("decode", 512, False)]


def test_interleaved_servers_with_names_are_told_apart(tmp_path: Path):
    """Line by line interleaved, a prefix is enough to give each node its own facts."""
    left = [f"prefill-1  | {line}" for line in PREFILL.splitlines()]
    right = [f"decode-1   | {line}" for line in DECODE.splitlines()]
    mixed = "\n".join(line for pair in zip(left, right, strict=False) for line in pair)
    nodes = {node.name: node for node in reading(tmp_path, mixed).nodes}
    assert {name: node.number("pool_tokens") for name, node in nodes.items()} == {"prefill-1": 128, "decode-1": 512}


def test_interleaved_servers_without_names_get_no_pool(tmp_path: Path):
    """Where two servers start at once without names, no pool is claimed for either, and the reading says why."""
    left, right = PREFILL.splitlines(), DECODE.splitlines()
    mixed = "\n".join(line for pair in zip(left, right, strict=False) for line in pair)
    read = reading(tmp_path, mixed)
    assert [node.number("pool_tokens") for node in read.nodes] == [None] * len(read.nodes)
    assert "cannot be told whose" in read.gaps[0]


def test_the_same_pod_name_in_two_containers_is_two_nodes(tmp_path: Path):
    """Two containers of one pod are named with their container."""
    text = "\n".join(
        f"[pod/llm-0/{container}] " + HEADLINE.format(rank="", pool=pool, context=512)
        for container, pool in (("prefill", 100), ("decode", 512))
    )
    assert _names(tmp_path, text) == ["llm-0/prefill", "llm-0/decode"]


def test_a_crash_loop_stays_bounded(tmp_path: Path):
    """Of a server that starts a hundred times the last starts are kept and the rest is told."""
    line = next(line for line in PREFILL.splitlines() if "server_args=" in line)
    read = reading(tmp_path, f"{line}\n" * 100)
    assert len(read.nodes) == 32
    assert "started 100 times" in read.gaps[0]


def test_each_rank_prints_the_same_refusal_once(tmp_path: Path):
    """A refusal that eight ranks print is one refusal."""
    line = "[2025-03-03 06:49:28 TP{}] Input length (90 tokens) exceeds the maximum allowed length (80 tokens). Use"
    node = only_node(tmp_path, "\n".join(line.format(rank) for rank in range(8)))
    assert node.happenings[Kind.REFUSED].count == 1


def test_only_a_one_token_batch_straight_after_a_refusal_is_a_placeholder(tmp_path: Path):
    """Batches of one token that no refusal precedes are cached prompts, not placeholders."""
    node = only_node(tmp_path, PREFILL)
    assert node.happenings[Kind.REFUSED].count == 4
    assert node.happenings[Kind.PLACEHOLDER].count == 4
    harmless = "\n".join(line for line in PREFILL.splitlines() if "Input length" not in line)
    assert Kind.PLACEHOLDER not in only_node(tmp_path, harmless).happenings


def test_a_customers_text_is_never_a_fact(tmp_path: Path):
    """A log of requests that holds a prompt which looks like a headline gives no fact."""
    spoof = "[2026-06-28 15:16:45] Receive: obj=GenerateReqInput(text='[x] max_total_num_tokens=1, context_len=2, a')"
    assert reading(tmp_path, spoof).nodes == ()


def test_a_launch_command_alone_says_no_role(tmp_path: Path):
    """A launch command without the flag gives `unified` only where the log shows the server serving."""
    command = "python3 -m sglang.launch_server --model-path /m --page-size 64 --tp 4\n"
    before, after = (
        only_node(tmp_path, command),
        only_node(tmp_path, command + HEADLINE.format(rank="", pool=9, context=8)),
    )
    assert (before.text("role"), after.text("role")) == (None, "unified")


def test_the_engines_own_advice_is_no_launch_command(tmp_path: Path):
    """The example that SGLang prints in a warning gives no node."""
    advice = "UserWarning: 'python -m sglang.launch_server' is still supported"
    text = f"{advice}\n  Example: sglang serve --model-path <model> [options]\n"
    assert reading(tmp_path, text).nodes == ()


def test_a_compose_prefix_names_the_node(tmp_path: Path):
    """The service's name is the node's."""
    assert _names(tmp_path, wrapped(PREFILL, COMPOSE)) == ["prefill-1"]
