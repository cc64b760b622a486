"""vLLM's lines that the corpus does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.facts.fact import Kind
from support.audit_logs import only_node, reading, values

V1 = """\
(APIServer pid=1) INFO 08-20 12:00:00 [api_server.py:1805] vLLM API server version 0.10.1
(APIServer pid=1) INFO 08-20 12:00:00 [utils.py:326] non-default args: {'model': '/m', 'max_model_len': 32768, \
'block_size': 64%s}
(EngineCore_0 pid=9) INFO 08-20 12:00:09 [core.py:74] Initializing a V1 LLM engine (v0.10.1) with config: model='/m', \
dtype=torch.bfloat16, max_seq_len=32768, tensor_parallel_size=4, pipeline_parallel_size=2, kv_cache_dtype=auto, \
compilation_config={"level":3,"block_size":1}, seed=0
(EngineCore_0 pid=9) INFO 08-20 12:00:19 [kv_cache_utils.py:849] GPU KV cache size: 922,496 tokens
(EngineCore_0 pid=9) INFO 08-20 12:00:19 [kv_cache_utils.py:853] Maximum concurrency for 32,768 tokens per request: 28x
"""
TRANSFER = ", 'kv_transfer_config': KVTransferConfig(kv_connector='{}', engine_id='x', kv_role='{}', kv_rank=None)"


def test_a_v1_start_gives_its_facts(tmp_path: Path):
    """Version, sizes, types and parallelism are read from the lines that vLLM 0.10 prints."""
    found = values(only_node(tmp_path, V1 % ""))
    assert found == {
        "engine": "vllm",
        "engine_version": "0.10.1",
        "role": "unified",
        "pool_tokens": 922496,
        "context_length": 32768,
        "page_size": 64,
        "kv_dtype": "bfloat16",
        "tp_size": 4,
        "pp_size": 2,
        "model": "/m",
    }


@pytest.mark.parametrize(
    ("connector", "kv_role", "role"),
    [
        ("NixlConnector", "kv_producer", "prefill"),
        ("NixlConnector", "kv_consumer", "decode"),
        ("NixlConnector", "kv_both", None),
        ("ExampleConnector", "kv_both", "unified"),
    ],
)
def test_the_connector_gives_the_role(tmp_path: Path, connector: str, kv_role: str, role: str | None):
    """A connector's role is the server's; where it carries KV both ways, none is claimed."""
    assert only_node(tmp_path, V1 % TRANSFER.format(connector, kv_role)).text("role") == role


def test_a_launch_command_gives_the_role(tmp_path: Path):
    """`vllm serve` with a transfer config in JSON gives role and context."""
    command = (
        "vllm serve /m --max-model-len 2048 --block-size 128 "
        '--kv-transfer-config \'{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}\'\n'
    )
    found = values(only_node(tmp_path, command))
    assert (found["role"], found["context_length"], found["page_size"]) == ("decode", 2048, 128)


def test_the_smallest_engine_decides(tmp_path: Path):
    """Of several engines the smallest pool is the node's."""
    line = "(EngineCore_DP{} pid=9) INFO 08-20 12:00:19 [kv_cache_utils.py:849] GPU KV cache size: {} tokens\n"
    assert values(only_node(tmp_path, line.format(0, "9,000") + line.format(1, "8,000")))["pool_tokens"] == 8000


def test_blocks_alone_give_no_pool(tmp_path: Path):
    """A number of blocks without a block size is no pool; with one it is."""
    blocks = "INFO 01-11 15:51:18 llm_engine.py:275] # cuda blocks: 229, # CPU blocks: 512\n"
    sized = "INFO 01-11 15:51:02 api_server.py:1] args: Namespace(model='/m', block_size=16, max_model_len=4096)\n"
    assert only_node(tmp_path, blocks).number("pool_tokens") is None
    assert only_node(tmp_path, sized + blocks).number("pool_tokens") == 3664


def test_blocks_and_tokens_give_the_block_size(tmp_path: Path):
    """The pool in tokens over the pool in blocks is the block size, if it is one that exists."""
    tokens = "INFO [kv_cache_utils.py:849] GPU KV cache size: 922,496 tokens\n"
    blocks = (
        "INFO [loggers.py:142] Engine 000: vllm cache_config_info with initialization after num_gpu_blocks is: {}\n"
    )
    assert only_node(tmp_path, tokens + blocks.format(57656)).number("page_size") == 16
    assert only_node(tmp_path, tokens + blocks.format(57655)).number("page_size") is None


def test_a_second_start_is_another_node(tmp_path: Path):
    """The line with the version begins another start."""
    assert [node.name for node in reading(tmp_path, V1 % "" + V1 % "").nodes] == ["node#1", "node#2"]


@pytest.mark.parametrize(
    "line",
    [
        "(APIServer pid=1) INFO 08-20 12:00:30 [f.py:89] Restart vllm serve with --enable-scale-out to enable them.",
        "Hint: --task is not a vllm serve option. Use --runner.",
        "(APIServer pid=1) INFO 08-20 12:00:30 [x.py:1] Use vllm serve /m --port 1 in its place.",
    ],
)
def test_vllm_speaking_of_a_launch_is_no_launch(tmp_path: Path, line: str):
    """A message that names `vllm serve`, as 0.32 prints one at every start, begins no second start."""
    started = values(only_node(tmp_path, V1 % ""))
    assert values(only_node(tmp_path, V1 % "" + line + "\n")) == started


def test_a_command_in_a_wrappers_message_is_a_launch(tmp_path: Path):
    """What a script prints before it starts vLLM gives the flags, with a logger's words in front of it too."""
    line = "2026-08-20 12:00:00,123 INFO [run.py:1] starting: vllm serve /m --max-model-len 4096 --block-size 16\n"
    assert values(only_node(tmp_path, line))["context_length"] == 4096


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Potentially invalid KV blocks for unrecognized request x were retrieved by a decode", Kind.EXPIRED_READ),
        ("Releasing expired KV blocks for request x which were retrieved by 0", Kind.RELEASED_UNDRAINED),
    ],
)
def test_what_happens_at_run_time_is_seen(tmp_path: Path, line: str, kind: Kind):
    """Each marker of blocks that outlived their lease is counted on its node."""
    node = only_node(tmp_path, f"(EngineCore_0 pid=9) ERROR 08-20 12:00:00 [nixl_connector.py:1] {line}\n")
    assert node.happenings[kind].count == 1


@pytest.mark.parametrize(
    "pool",
    [
        "",
        "(EngineCore pid=9) INFO 08-20 12:00:19 [k.py:1] CPU KV cache size: 1,152 tokens, \
Maximum concurrency for 1,024 tokens per request: 1.12x\n",
    ],
)
def test_a_context_left_to_the_pool_is_known_only_with_the_pool(tmp_path: Path, pool: str):
    """With `--max-model-len auto` what is printed before the pool is the model's length, and what fits may be less."""
    lines = (
        "(APIServer pid=1) INFO 08-20 12:00:00 [u.py:1] non-default args: {'model': '/m', 'max_model_len': -1}\n"
        "(APIServer pid=1) INFO 08-20 12:00:00 [model.py:2152] Using max model len 2048\n"
        "(EngineCore pid=9) INFO 08-20 12:00:09 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: "
        "model='/m', max_seq_len=2048, seed=0\n"
    )
    assert only_node(tmp_path, lines + pool).number("context_length") == (1024 if pool else None)
