"""The nodes of one audit, seen as a deployment: which limits they have, and which prefill feeds which decode.

Lengths are in tokens of a prompt. What a rule says about them is the rule's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from kvfence.facts.fact import Engine, Happening, Kind, NodeFacts, Role
from kvfence.facts.known_version import ends, is_older, known_version
from kvfence.facts.sglang_limit import LIMIT_BELOW
from kvfence.findings.finding import Severity
from kvfence.findings.source_tree import SourceTree

LIMIT_FACTS = ("max_req_input_len", "usable_length", "pool_tokens", "context_length")
_CONTEXT_FLAG = {
    Engine.SGLANG: "--context-length",
    Engine.VLLM: "--max-model-len",
    Engine.CELL: "--context",
    Engine.LLAMA_CPP: "--ctx-size",
    Engine.TGI: "--max-total-tokens",
    Engine.TENSORRT_LLM: "--max_seq_len",
    Engine.DYNAMO: "the workers' context length",
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """All nodes that were read, in the order in which they were named."""

    nodes: Sequence[NodeFacts]
    trees: Sequence[SourceTree] = ()
    """Engines' source trees, whichever node runs them."""

    def current(self) -> tuple[NodeFacts, ...]:
        """The nodes that no later start in the same log replaces: what they can hold now is theirs to say."""
        return tuple(node for node in self.nodes if not node.superseded)

    def of(self, role: Role) -> tuple[NodeFacts, ...]:
        """The nodes of one role that no later start in the same log replaces."""
        return tuple(node for node in self.nodes if role_of(node) is role and not node.superseded)

    def where(self, kind: Kind) -> Iterator[tuple[NodeFacts, Happening]]:
        """The nodes on which that happened, starts that are over among them: what happened has happened."""
        for node in self.nodes:
            happening = node.happenings.get(kind)
            if happening is not None:
                yield node, happening

    def pairs(self) -> tuple[tuple[NodeFacts, NodeFacts], ...]:
        """Each prefill with each decode that may serve the same requests: the same engine, and no other model."""
        return tuple(
            (prefill, decode)
            for prefill, decode in product(self.of(Role.PREFILL), self.of(Role.DECODE))
            if engine_of(prefill) is engine_of(decode) and _may_share_model(prefill, decode)
        )


def engine_of(node: NodeFacts) -> Engine | None:
    """Whose log the node stands in."""
    name = node.text("engine")
    return Engine(name) if name else None


def refuses_like_sglang(node: NodeFacts) -> bool:
    """Whether a prompt that prefill refuses may run on as one token: SGLang, or an engine that is not known."""
    return engine_of(node) in {Engine.SGLANG, None}


def from_endpoint(node: NodeFacts) -> bool:
    """Whether a running server said what is known of it."""
    return any(fact.seen.line is None and "://" in fact.seen.file for fact in node.facts.values())


def role_of(node: NodeFacts) -> Role | None:
    """Its role, where the log shows it."""
    name = node.text("role")
    return Role(name) if name in set(Role) else None


def has_pool(node: NodeFacts) -> bool:
    """Whether it holds KV at all: the cell's router prints its refusals, has none, and is no node to judge."""
    return engine_of(node) is not Engine.CELL or node.fact("role") is not None


def cell_severity(node: NodeFacts) -> Severity:
    """How bad a refusal on a worker of kvfence's cell is: its checks say which layers stand behind it."""
    checks = set((node.text("checks") or "").split(","))
    if "I1" in checks:
        return Severity.LOW
    return Severity.MEDIUM if checks & {"I2-count", "I2-digest", "I5"} else Severity.CRITICAL


def cell_refuses_by_type(node: NodeFacts) -> bool:
    """Whether it is the cell under I1: its router refuses by the smallest limit of the path, before a page is held."""
    return engine_of(node) is Engine.CELL and cell_severity(node) is Severity.LOW


def is_disaggregated(node: NodeFacts) -> bool:
    """Whether it is known to be half of a pair."""
    return role_of(node) in {Role.PREFILL, Role.DECODE}


def holds_tokens(node: NodeFacts) -> int | None:
    """What its pool holds; where the pool was not read, what a limit that it enforces implies."""
    pool, limit = node.number("pool_tokens"), node.number("max_req_input_len")
    if pool is not None:
        return pool
    if limit is not None:
        return limit + LIMIT_BELOW
    # vLLM, when it will not start, says how long a sequence its memory could hold.
    return node.number("usable_length") if engine_of(node) is Engine.VLLM else None


def context_flag(node: NodeFacts) -> str:
    """What sets the promised length on this node, as its engine's operators write it."""
    engine = engine_of(node)
    return _CONTEXT_FLAG[engine] if engine else "the context length"


def first_refused(node: NodeFacts) -> int | None:
    """The shortest prompt that it does not take whole."""
    usable = node.number("usable_length")
    if usable is not None:
        return usable + 1
    pool, context = node.number("pool_tokens"), node.number("context_length")
    return None if pool is None or context is None else min(pool, context) + 1


def version_below(node: NodeFacts, version: str) -> bool | None:
    """Whether the engine is older than `version`; None if the log does not decide it."""
    oldest, newest = ends(known_version(node.facts))
    if newest and is_older(newest, version):
        return True
    return None if oldest is None or is_older(oldest, version) else False


def counted(happening: Happening) -> str:
    """How often it happened, and who says so: the log, or the server's own counter."""
    by_log = happening.seen[0].line is not None
    return f"{happening.count} times {'in this log' if by_log else 'since this server started'}"


def named(happening: Happening) -> str:
    """A sentence that names the requests it happened to, where the lines give them; empty if not."""
    if not happening.requests:
        return ""
    more = ", …" if len(happening.requests) < happening.count else ""
    return f" Requests: {', '.join(happening.requests)}{more}."


def grouped(tokens: int) -> str:
    """`681280` as `681,280`."""
    return f"{tokens:,}"


def _may_share_model(one: NodeFacts, other: NodeFacts) -> bool:
    models = {one.text("model"), other.text("model")} - {None}
    return len(models) < 2  # noqa: PLR2004 — two names are two models
