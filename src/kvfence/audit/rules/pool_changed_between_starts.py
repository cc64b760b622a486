"""The pool, a limit or the version is not what it was at an earlier start of the same server.

## What it says

One log shows a server starting more than once, and from one start to the next its pool, its context, the longest
prompt that it takes, or its version changed. The finding names each figure at each start, and what else changed in
the settings: memory fraction, quantisation, parallelism, CUDA graphs, a draft model. Only the last start is judged by
the other rules; this one says that what was measured before it no longer holds.

A pool that moved by less than one part in a hundred is no finding: it is what memory was left, and that is never
quite the same.

## Why it matters

Nobody sets the pool. A restart with another quantisation, another tensor parallelism, CUDA graphs on, or another
process on the same device leaves another pool behind, and with it the lengths that are refused. A limit that was
measured before launch is not the limit after the next restart.

## How bad

| change | severity |
| --- | --- |
| the pool fell below the context that it held before | high |
| the pool or the longest prompt shrank, or the context grew | medium |
| anything else | low |

## What ends it

Measure after every start, and compare with a record (`kvfence gate`); fix the pool's size where it must not move
(SGLang: `--max-total-tokens`; vLLM: `--num-gpu-blocks-override` or `--kv-cache-memory-bytes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kvfence.audit.deployment import Deployment, engine_of, grouped, holds_tokens
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.findings.finding import Confidence, Evidence, Finding, Severity

ID = "pool-changed-between-starts"
CODE = "KVF603"
TOLERANCE = 0.01
_SIZES = ("pool_tokens", "swa_pool_tokens", "mamba_pool_slots", "usable_length")
_LIMITS = (*_SIZES, "context_length", "engine_version")
_ELSE = (
    *("mem_fraction", "quantization", "kv_dtype", "tp_size", "dp_size", "pp_size", "page_size", "cuda_graph"),
    *("draft_model", "hicache", "pool_cap_tokens", "attention_backend", "model"),
)
_WORDS = {
    "pool_tokens": "pool",
    "swa_pool_tokens": "window pool",
    "mamba_pool_slots": "state slots",
    "usable_length": "longest prompt",
    "context_length": "context",
    "engine_version": "version",
}
_FIX = {
    Engine.SGLANG: "--max-total-tokens",
    Engine.VLLM: "--num-gpu-blocks-override or --kv-cache-memory-bytes",
}


@dataclass(frozen=True, slots=True)
class _Change:
    """A fact at two starts in a row of one server."""

    name: str
    before: NodeFacts
    after: NodeFacts

    @property
    def text(self) -> str:
        """`pool 681,280 → 284,928`."""
        return f"{_WORDS.get(self.name, self.name)} {_shown(self.before, self.name)} → {_shown(self.after, self.name)}"

    def moved_by(self) -> int:
        """How much more there is; 0 for what is no number."""
        return (self.after.number(self.name) or 0) - (self.before.number(self.name) or 0)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each server that came up differently, whatever the number of its starts."""
    for starts in _servers(deployment.nodes):
        changes = [change for pair in pairwise(starts) for change in _changes(*pair, _LIMITS)]
        if not changes:
            continue
        others = [change for pair in pairwise(starts) for change in _changes(*pair, _ELSE)]
        yield Finding(
            rule=ID,
            severity=max((_severity(change) for change in changes), key=_RISING.index),
            confidence=Confidence.HIGH,
            node=starts[-1].name,
            message=_message(starts, changes, others),
            evidence=_evidence(changes),
            fix=_fix(starts[-1]),
        )


_RISING = (Severity.LOW, Severity.MEDIUM, Severity.HIGH)


def _servers(nodes: Sequence[NodeFacts]) -> Iterator[list[NodeFacts]]:
    by_server: dict[str, list[NodeFacts]] = {}
    for node in nodes:
        if node.server:
            by_server.setdefault(node.server, []).append(node)
    yield from by_server.values()


def _changes(before: NodeFacts, after: NodeFacts, names: Sequence[str]) -> Iterator[_Change]:
    """What both starts say, differently."""
    for name in names:
        one, other = before.fact(name), after.fact(name)
        if one and other and one.value != other.value and not _is_usual(name, one.value, other.value):
            yield _Change(name, before, after)


def _is_usual(name: str, one: object, other: object) -> bool:
    if name not in _SIZES or not isinstance(one, int) or not isinstance(other, int):
        return False
    return abs(other - one) < TOLERANCE * one


def _severity(change: _Change) -> Severity:
    held, context = holds_tokens(change.after), change.after.number("context_length")
    held_before = holds_tokens(change.before)
    if (
        change.name == "pool_tokens"
        and None not in {held, context, held_before}
        and (held or 0) < (context or 0) <= (held_before or 0)
    ):
        return Severity.HIGH
    worse = change.moved_by() > 0 if change.name == "context_length" else change.moved_by() < 0
    return Severity.MEDIUM if worse else Severity.LOW


def _message(starts: Sequence[NodeFacts], changes: Sequence[_Change], others: Sequence[_Change]) -> str:
    what = ", ".join(dict.fromkeys(change.text for change in changes))
    also = ", ".join(dict.fromkeys(change.text for change in others))
    beside = f" Beside it changed: {also}." if also else ""
    return f"This log shows {len(starts)} starts of this server, and they differ: {what}.{beside}"


def _evidence(changes: Sequence[_Change]) -> tuple[Evidence, ...]:
    last_first = [node for change in reversed(changes) for node in (change.after, change.before)]
    names = [name for change in reversed(changes) for name in (change.name, change.name)]
    return tuple(dict.fromkeys(node.facts[name].seen for node, name in zip(last_first, names, strict=True)))


def _shown(node: NodeFacts, name: str) -> str:
    number = node.number(name)
    return str(node.facts[name].value) if number is None else grouped(number)


def _fix(node: NodeFacts) -> str:
    flag = _FIX.get(engine_of(node) or Engine.CELL)
    fixed = f", or fix the pool's size with {flag}" if flag else ""
    return f"Take what was measured before this start as void and measure again{fixed}; keep a record (kvfence gate)."
