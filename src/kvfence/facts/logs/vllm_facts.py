"""What follows from all that one start of vLLM printed. Each fact names its sources, most trusted first.

Role. vLLM has no role of its own: one server does both halves unless a KV connector gives it a part. So `kv_role`
kv_producer is prefill and kv_consumer is decode. With a connector that carries KV between two servers and `kv_both`,
or without a role in the log, nothing is claimed. With a connector that only stores or offloads, and where no
connector is named at all, the role is `unified`: the line that names one is printed at the default log level in the
same process that prints the pool.

Pool. V1 prints tokens; the smallest over the engines counts. V0 prints blocks, which are tokens only if the block
size is known; where V0 also complains it gives the tokens, and the two together give the block size.

The figure that V1 prints is no sum of blocks for every model: from 0.26 on (0.20 still multiplies blocks) it is the
maximum concurrency times the longest sequence. For a model whose layers need KV of several kinds (`hybrid_kv`) memory
over that figure is no price of a token, and a shorter context changes it (vllm#51041, vllm#54662).

Context. The lines on the pool name the one in force. Those before it name the model's own, which is another one where
`--max-model-len auto` shortens it to what the pool holds.

The longest prompt is only claimed where the engine itself names it: in the message that it will not start, "the
estimated maximum model length is N". vLLM counts the answer's first token in or out by version.
"""

from __future__ import annotations

from dataclasses import replace

from kvfence.facts.fact import Fact, Role
from kvfence.facts.flags import Kind
from kvfence.facts.logs.evidence import Heard, first_of
from kvfence.facts.logs.settings import typed

STORES = frozenset(
    {
        "LMCacheMPConnector",
        "OffloadingConnector",
        "SimpleCPUOffloadConnector",
        "ExampleConnector",
        "SharedStorageConnector",
        "ExampleHiddenStatesConnector",
        "MooncakeStoreConnector",
        "HF3FSKVConnector",
        "FlexKVConnectorV1",
        "DecodeBenchConnector",
    }
)
"""Connectors that keep KV somewhere, rather than carry it from a prefill server to a decode server."""
_AUTO_FIT = frozenset({-1, "auto"})
"""A `--max-model-len` that lets the pool decide: before the pool is known only the model's own length is printed."""
ONE_NAME = {"NixlPullConnector": "NixlConnector"}
"""In vLLM 0.32 the second is an alias: a server that was asked for it prints the first."""
_PLAIN = {
    **dict.fromkeys(("tp_size", "dp_size", "pp_size", "port"), Kind.NUMBER),
    **dict.fromkeys(("model", "quantization", "device", "host"), Kind.TEXT),
    "mem_fraction": Kind.FRACTION,
}
"""Settings that are facts as they stand."""
_BLOCK_SIZES = frozenset({1, 8, 16, 32, 64, 128, 256})
"""What `--block-size` has allowed; another quotient means that pool and blocks do not belong together."""


def resolve(heard: Heard) -> dict[str, Fact]:
    """The facts by name; what is not known is not in it."""
    block_size = _block_size(heard)
    found: dict[str, Fact | None] = {
        "engine_version": heard.last("version"),
        "role": _role(heard),
        "pool_tokens": _pool(heard, block_size),
        "context_length": _context(heard),
        "page_size": block_size,
        "kv_dtype": _kv_dtype(heard),
        "usable_length": heard.least("estimated"),
        "hybrid_kv": heard.last("hybrid"),
        "attention_backend": first_of(heard.last("backend"), _typed(heard, "attention_backend", Kind.TEXT)),
        "transfer_backend": _transfer(heard),
        "kv_two_ways": heard.last("kv_two_ways"),
        "cuda_graph": _cuda_graph(heard),
        "draft_model": heard.last("set.draft"),
    }
    plain = {name: _typed(heard, name, kind) for name, kind in _PLAIN.items()}
    numeric = {"context_length", "page_size"}
    return {
        name: fact
        for name, fact in (plain | found).items()
        if fact is not None and (name not in numeric or type(fact.value) is int)
    }


def _typed(heard: Heard, name: str, kind: Kind) -> Fact | None:
    return typed(first_of(*_settings(heard, name)), kind)


def _transfer(heard: Heard) -> Fact | None:
    """The connector that carries KV from one server to another."""
    connector = heard.last("connector")
    if connector is None or connector.value in STORES:
        return None
    return replace(connector, value=ONE_NAME.get(str(connector.value), connector.value))


def _cuda_graph(heard: Heard) -> Fact | None:
    eager = _typed(heard, "enforce_eager", Kind.SWITCH)
    return Fact(not eager.value, eager.seen) if eager else heard.last("graph.line")


def _settings(heard: Heard, name: str) -> tuple[Fact | None, Fact | None]:
    return heard.last(f"set.{name}"), heard.last(f"flag.{name}")


def _role(heard: Heard) -> Fact | None:
    kv_role, connector = heard.last("kv_role"), heard.last("connector")
    if kv_role and kv_role.value in {"kv_producer", "kv_consumer"}:
        role = Role.PREFILL if kv_role.value == "kv_producer" else Role.DECODE
        return Fact(role.value, kv_role.seen)
    if connector and connector.value not in STORES:
        return None
    seen = first_of(connector, heard.last("pool"), heard.last("stored"), heard.last("blocks"))
    return Fact(Role.UNIFIED.value, seen.seen) if seen else None


def _context(heard: Heard) -> Fact | None:
    measured = heard.last("context.line")
    asked = {*heard.values("set.context"), *heard.values("flag.context")}
    return (
        measured if asked & _AUTO_FIT else first_of(measured, heard.last("context.model"), *_settings(heard, "context"))
    )


def _pool(heard: Heard, block_size: Fact | None) -> Fact | None:
    printed = heard.least("pool") or heard.least("stored")
    blocks = heard.least("blocks")
    if printed or not blocks or not block_size:
        return printed
    return Fact(int(blocks.value) * int(block_size.value), blocks.seen)


def _block_size(heard: Heard) -> Fact | None:
    asked = first_of(heard.last("block_size.line"), *_settings(heard, "block_size"))
    if asked and isinstance(asked.value, int):
        return asked
    blocks, tokens = heard.agreed("blocks"), heard.agreed("stored") or heard.agreed("pool")
    if not blocks or not tokens or int(blocks.value) == 0:
        return None
    size, rest = divmod(int(tokens.value), int(blocks.value))
    return Fact(size, tokens.seen) if rest == 0 and size in _BLOCK_SIZES else None


def _kv_dtype(heard: Heard) -> Fact | None:
    """`auto` means the model's own type, which the same line of settings gives."""
    asked = first_of(heard.last("kv_dtype.line"), *_settings(heard, "kv_cache_dtype"))
    if asked and asked.value != "auto":
        return asked
    model_type = first_of(*_settings(heard, "dtype"))
    if not asked or not model_type or model_type.value == "auto":
        return None
    return Fact(str(model_type.value).removeprefix("torch."), model_type.seen)
