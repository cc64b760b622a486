"""What a probe has spent, as it is reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Of one campaign. Where an endpoint does not say what a request took, the most that it can have taken."""

    requests: int
    """With retries."""
    prompt_tokens: int
    answer_tokens: int
    usd: float | None
    """None where no prices were given."""
