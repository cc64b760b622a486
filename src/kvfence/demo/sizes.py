"""The two sizes of the demo: one that runs in seconds, and the incident's own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvfence.cell.config import CellConfig
from kvfence.cell.taint import Oracle
from kvfence.core.rules import Rules
from kvfence.demo.clients import ANSWER_TOKENS


class Size(StrEnum):
    """How large the demo runs."""

    DEFAULT = "default"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """All in tokens."""

    context: int
    prefill_pool: int
    decode_pool: int

    @property
    def fits(self) -> int:
        """A prompt that both workers can hold, with its answer."""
        return self.prefill_pool - 2 * ANSWER_TOKENS

    @property
    def between(self) -> int:
        """A prompt over the pool and under the context: what the incident needs."""
        return (self.prefill_pool + self.context) // 2

    def config(self, rules: Rules) -> CellConfig:
        """The cell of this size; its oracle only records, so that it can be compared with the answers."""
        return CellConfig(
            prefill_pool_tokens=self.prefill_pool,
            decode_pool_tokens=self.decode_pool,
            context_tokens=self.context,
            rules=rules,
            oracle=Oracle.RECORD,
        )


LENGTHS = {
    Size.DEFAULT: Lengths(context=32_768, prefill_pool=21_248, decode_pool=40_960),
    Size.FULL: Lengths(context=1_048_576, prefill_pool=681_280, decode_pool=1_114_112),
}
"""35 % below the context, both; the full size is the incident's."""
