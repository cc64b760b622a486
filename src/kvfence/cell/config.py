"""One frozen value for the whole cell, checked once at the edge; nobody below reads options or environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kvfence.cell.taint import Oracle
from kvfence.core.admission import Capacity, advertised_tokens
from kvfence.core.ids import Role
from kvfence.core.pool import Reuse
from kvfence.core.rules import FENCED, Rules, Wire

LAYOUT = "float32 row=key128|value16 order=page,slot"
"""Fingerprint of what the induction model writes; the page size is added to it."""


class Hosting(StrEnum):
    """Where the workers run."""

    THREAD = "thread"
    PROCESS = "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellConfig:
    """What a cell is. Tokens, but where the name says otherwise."""

    prefill_pool_tokens: int
    decode_pool_tokens: int
    context_tokens: int
    page_size: int = 64
    """Slots a page; 64 is what engines use for long-context MLA models."""
    rules: Rules = FENCED
    wire: Wire = Wire.PUSH
    reuse: Reuse = Reuse.LIFO
    hosting: Hosting = Hosting.THREAD
    oracle: Oracle = Oracle.OFF
    """Whether every slot is shadowed: for tests only, it costs time and memory. Threads only."""
    chunk_tokens: int = 4096
    """Slots that prefill computes for one request before it turns to the next."""
    lease_s: float = 30.0
    """How long prefill holds pages for a pull (vLLM's NIXL connector gave 30 s where the expiry was seen)."""
    wire_delay_s: float = 0.0
    """The longest that a transfer of pages takes; each is drawn a time between nothing and this. One-sided wires."""
    handoff_timeout_s: float = 300.0
    """How long decode waits for a manifest; SGLang's waiting time-out is the same."""
    model: str = field(default="induction")

    def capacity(self, role: Role) -> Capacity:
        """What the worker of that role can hold."""
        pool = self.prefill_pool_tokens if role is Role.PREFILL else self.decode_pool_tokens
        return Capacity(pool_tokens=pool, context_tokens=self.context_tokens, page_size=self.page_size)

    @property
    def advertised_tokens(self) -> int:
        """What `/v1/models` promises under these rules (I7)."""
        return advertised_tokens((self.capacity(Role.PREFILL), self.capacity(Role.DECODE)), self.rules)

    @property
    def layout(self) -> str:
        """The fingerprint that manifests carry."""
        return f"{LAYOUT} page={self.page_size}"


def start_figures(config: CellConfig, role: Role, version: str) -> tuple[tuple[str, str], ...]:
    """What a worker is, name and value: in the line that it prints, and as labels of its metric."""
    capacity = config.capacity(role)
    return (
        ("engine_version", version),
        ("role", str(role)),
        ("rules", config.rules.name),
        ("pool_tokens", str(capacity.pool_tokens)),
        ("context_length", str(config.context_tokens)),
        ("page_size", str(config.page_size)),
        ("usable_tokens", str(capacity.usable_tokens)),
        ("kv_dtype", "float32"),
        ("tp_size", "1"),
        ("checks", config.rules.checks),
    )


def start_line(config: CellConfig, role: Role, version: str) -> str:
    """The line that a worker prints when it is ready; `kvfence audit` reads it."""
    figures = " ".join(f"{name}={value}" for name, value in start_figures(config, role, version))
    return f"kvfence cell start: engine=kvfence-cell worker={role}-0 {figures}"
