"""A prompt longer than the limit, answered and not refused.

The limit is what the deployment could hold, as an audit or its operator says. It is right where the prompt was longer
by its own tokenizer, whatever became of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from kvfence.scan.signs.lengths import byte_count, tokens_likely
from kvfence.scan.signs.told import Seen, Told

COUNTED = 8.0
"""The strength where the log has the count: more than an estimate is ever given."""


@dataclass(frozen=True, slots=True)
class PastLimit:
    """The sign for one limit."""

    limit: int
    """Tokens of a prompt."""

    def __call__(self, told: Told) -> Seen | None:
        """Where the count is not over the limit, its strength is how many times, as a power of two, the bytes are."""
        count = told.prompt_tokens or 0
        if count > self.limit:
            return Seen(COUNTED, f"recorded as {count:,} prompt tokens, over the limit of {self.limit:,}, and answered")
        likely = tokens_likely(told.prompt)
        if likely <= self.limit:
            return None
        size = byte_count(told.prompt)
        said = f"{size:,} bytes of prompt, about {likely:,.0f} tokens, over the limit of {self.limit:,}, and answered"
        return Seen(min(log2(likely / self.limit), COUNTED - 1), said)
