"""What `kvfence audit --format json` knows of a deployment, as lengths that matter to a probe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kvfence.errors import UsageError
from kvfence.probe.boundaries import Boundary

SCHEMA = 1
_LENGTHS = {
    "pool_tokens": "KV pool",
    "swa_pool_tokens": "window's pool",
    "usable_length": "usable length",
    "max_req_input_len": "longest input",
    "context_length": "context length",
}
"""Facts that are lengths, and what they are called."""


class _Node(msgspec.Struct, frozen=True):
    node: str
    facts: dict[str, object]


class _Audit(msgspec.Struct, frozen=True):
    schema: int
    nodes: list[_Node]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLengths:
    """What an audit says of lengths."""

    declared_context: int | None
    """The longest that any node promises; None where none says."""
    boundaries: tuple[Boundary, ...]
    """Rising, each length once, named for all nodes that have it."""
    pool_tokens: int | None
    """Of the largest pool; None where no node says."""
    pages: tuple[int, ...]
    """Tokens of a page, where it is more than one."""


def read_facts(path: Path) -> KnownLengths:
    """The lengths in an audit's JSON. Raises `UsageError` for what is none, or says nothing of lengths."""
    try:
        audit = msgspec.json.decode(path.read_bytes(), type=_Audit)
    except OSError as error:
        raise UsageError(f"--facts {path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise UsageError(f"--facts {path}: not what `kvfence audit --format json` writes: {error}") from error
    if audit.schema != SCHEMA:
        raise UsageError(f"--facts {path}: schema {audit.schema}, and this kvfence reads {SCHEMA}; audit again with it")
    names: dict[int, dict[str, None]] = {}
    for tokens, name in _named_lengths(audit):
        names.setdefault(tokens, {})[name] = None
    if not names:
        raise UsageError(f"--facts {path}: no node in it has a pool, a context or a usable length")
    contexts = [context for node in audit.nodes if (context := _tokens(node, "context_length"))]
    pools = [pool for node in audit.nodes if (pool := _tokens(node, "pool_tokens"))]
    pages = {page for node in audit.nodes if (page := _tokens(node, "page_size")) and page > 1}
    return KnownLengths(
        declared_context=max(contexts, default=None),
        boundaries=tuple(Boundary(tokens, " and ".join(names[tokens])) for tokens in sorted(names)),
        pool_tokens=max(pools, default=None),
        pages=tuple(sorted(pages)),
    )


def _named_lengths(audit: _Audit) -> Iterator[tuple[int, str]]:
    for node in audit.nodes:
        for fact, name in _LENGTHS.items():
            if tokens := _tokens(node, fact):
                yield tokens, f"{name} of {node.node}"


def _tokens(node: _Node, fact: str) -> int | None:
    value = node.facts.get(fact)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
