"""A fact: a value and where it was read. A node: its facts, and what happened on it. No rule and no format here.

A fact that was not read is absent. Nothing stands for "probably".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kvfence.findings.finding import Evidence

FACT_NAMES = (
    "engine",
    "engine_version",
    "engine_version_min",
    "engine_version_max",
    "role",
    "pool_tokens",
    "context_length",
    "page_size",
    "kv_dtype",
    "tp_size",
    "dp_size",
    "pp_size",
    "max_req_input_len",
    "usable_length",
    "advertised_length",
    "front_length",
    "kv_canary",
    "kv_checksum",
    "checks",
    "canary_installed",
    "canary_ran",
    "canary_protected_tokens",
    "checksum_compared",
    "handoffs_checked",
    "allow_auto_truncate",
    "pool_cap_tokens",
    "rules",
    "model",
    "swa_pool_tokens",
    "mamba_pool_slots",
    "hybrid_kv",
    "draft_model",
    "mem_fraction",
    "quantization",
    "attention_backend",
    "transfer_backend",
    "kv_two_ways",
    "cuda_graph",
    "hicache",
    "device",
    "host",
    "port",
    "bootstrap_port",
    "api_key",
    "published",
    "bootstrap_published",
)
"""In the order in which they are reported. From `model` on they decide nothing alone: they tell what else changed, and
who can reach it."""


class Engine(StrEnum):
    """Whose log or endpoint it is."""

    SGLANG = "sglang"
    VLLM = "vllm"
    CELL = "kvfence-cell"
    LLAMA_CPP = "llama.cpp"
    TGI = "tgi"
    TENSORRT_LLM = "tensorrt-llm"
    DYNAMO = "dynamo"


class Role(StrEnum):
    """What a node does of a request."""

    UNIFIED = "unified"
    PREFILL = "prefill"
    DECODE = "decode"


class Way(StrEnum):
    """How a server's port can be reached from outside the network that is its own: the value of `published`."""

    LOAD_BALANCER = "load balancer"
    NODE_PORT = "node port"
    INGRESS = "ingress"
    ROUTE = "gateway route"
    HOST_PORT = "host port"
    HOST_NETWORK = "host network"
    OWN_MACHINE = "every address of its machine"


@dataclass(frozen=True, slots=True)
class Fact:
    """A value and where it was read, or what it was derived from."""

    value: str | int | bool
    seen: Evidence
    also: tuple[Evidence, ...] = ()
    """Other places that say the same."""


@dataclass(frozen=True, slots=True)
class Differing:
    """One fact of one node of which two sources say different things."""

    name: str
    kept: Fact
    """The one that the node reports."""
    other: Fact


class Kind(StrEnum):
    """What can happen on a node while it runs that an audit wants to know."""

    REFUSED = "refused"
    """A prompt was too long for this node."""
    PLACEHOLDER = "placeholder"
    """A batch of one token straight after a refusal: the refused request ran on."""
    TRUNCATED = "truncated"
    """A prompt was cut to this node's own limit and ran on."""
    UNVERIFIED = "unverified"
    """A check that is switched on let a request pass unchecked."""
    CHECK_FAILED = "check-failed"
    """A content check caught something."""
    RELEASED_UNDRAINED = "released-undrained"
    """Pages were handed on although a remote write into them may still have been under way."""
    EXPIRED_READ = "expired-read"
    """Pages were read after, or given up before, their lease was over."""
    WILL_NOT_START = "will-not-start"
    """The engine says that it does not start with this pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened, how often, and where."""

    kind: Kind
    count: int
    asked_tokens_max: int | None
    """The longest prompt among them, where the lines say."""
    seen: tuple[Evidence, ...]
    """The first few places, and the last."""
    requests: tuple[str, ...] = ()
    """The first few requests, by the identifiers that the lines give; not their text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """One start of one node."""

    name: str
    facts: Mapping[str, Fact]
    happenings: Mapping[Kind, Happening] = field(default_factory=dict)
    planned: bool = False
    """It was read from what launches it: its settings are known, and nothing that only a running server knows."""
    superseded: bool = False
    """A later start of the same server stands in the same log."""
    server: str = ""
    """The same for all starts of one server in one log; empty where a server is seen once."""
    differing: tuple[Differing, ...] = ()
    """What its sources do not agree on, where it was read in more than one."""

    def fact(self, name: str) -> Fact | None:
        """The fact of that name, if it was read."""
        return self.facts.get(name)

    def number(self, name: str) -> int | None:
        """Its value, where that is a whole number."""
        fact = self.facts.get(name)
        return fact.value if fact and isinstance(fact.value, int) and not isinstance(fact.value, bool) else None

    def text(self, name: str) -> str | None:
        """Its value, where that is text."""
        fact = self.facts.get(name)
        return fact.value if fact and isinstance(fact.value, str) else None

    def evidence(self, *names: str) -> tuple[Evidence, ...]:
        """Where these facts were read: each place once, in this order."""
        facts = [self.facts[name] for name in names if name in self.facts]
        return tuple(dict.fromkeys(place for fact in facts for place in (fact.seen, *fact.also)))
