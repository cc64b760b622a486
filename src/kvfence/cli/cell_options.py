"""What was asked of `kvfence serve`, turned into one frozen config. Imported only when a cell is wanted."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from kvfence.cell.config import CellConfig, Hosting
from kvfence.cell.server import listen, serve
from kvfence.cell.taint import Oracle
from kvfence.core.ids import Role
from kvfence.core.invariants import Violation
from kvfence.core.pool import Reuse
from kvfence.core.rules import NAMED, Wire, natural_wire
from kvfence.errors import UsageError

POOL_BELOW_CONTEXT = 0.65
"""The incident's proportion: 681,280 tokens of pool for 1,048,576 of context."""

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOptions:
    """The options as they were given."""

    model: str
    rules: str
    context: int
    prefill_pool: int | None
    decode_pool: int | None
    page_size: int
    wire: str | None
    reuse: str
    workers: str
    taint: str
    wire_delay_s: float = 0.0
    lease_s: float = 30.0
    handoff_timeout_s: float = 300.0

    def config(self) -> CellConfig:
        """The config. Raises `UsageError`, which names the option."""
        rules = NAMED.get(self.rules)
        if rules is None:
            raise UsageError(f"--rules '{self.rules}' is unknown; there are: {', '.join(NAMED)}")
        hosting = _choice("--workers", self.workers, Hosting)
        oracle = _choice("--taint", self.taint, Oracle)
        if oracle is not Oracle.OFF and hosting is not Hosting.THREAD:
            raise UsageError("--taint needs --workers thread: the oracle's shadow is not shared between processes")
        wire = _choice("--wire", self.wire, Wire) if self.wire else natural_wire(rules)
        if self.wire_delay_s and wire is Wire.TWO_SIDED:
            raise UsageError("--wire-delay is for push and pull; with --wire two-sided pages travel as messages")
        config = CellConfig(
            model=self.model,
            context_tokens=self.context,
            prefill_pool_tokens=self.prefill_pool or int(self.context * POOL_BELOW_CONTEXT),
            decode_pool_tokens=self.decode_pool or 2 * self.context,
            page_size=self.page_size,
            rules=rules,
            wire=wire,
            reuse=_choice("--reuse", self.reuse, Reuse),
            hosting=hosting,
            oracle=oracle,
            wire_delay_s=self.wire_delay_s,
            lease_s=self.lease_s,
            handoff_timeout_s=self.handoff_timeout_s,
        )
        return _checked(config)


def serve_cell(options: CellOptions, *, host: str, port: int) -> None:
    """Serve until interrupted."""
    config = options.config()
    logging.basicConfig(format="[%(asctime)s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S", stream=sys.stderr)
    logging.getLogger("kvfence").setLevel(logging.INFO)
    serve(config, listen(host, port))


def _checked(config: CellConfig) -> CellConfig:
    for role, option in ((Role.PREFILL, "--prefill-pool"), (Role.DECODE, "--decode-pool")):
        try:
            config.capacity(role)
        except Violation as error:
            raise UsageError(
                f"{option} is smaller than one page of {config.page_size} slots; make it larger or --page-size smaller"
            ) from error
    return config


def _choice(option: str, text: str, kind: type[Choice]) -> Choice:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{option} '{text}' is unknown; there are: {', '.join(kind)}") from None
