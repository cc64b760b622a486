"""When a request is sent again, and after how long. Pure.

Only what says "later" is asked again: 429, Anthropic's 529 (overloaded), and 503 with a time. A reset or a 500 is what
is being measured, and a long prompt is not paid for twice.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass

TRIES = 4
FIRST_WAIT_S = 1.0
WAIT_S_MAX = 60.0
"""A server that wants more is not waited for."""
TOO_MANY = 429
NOT_NOW = 503
OVERLOADED = 529
"""Anthropic's "overloaded_error", which its own clients ask again: platform.claude.com/docs/en/api/errors."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is sent at most, and how long the waits may be."""

    tries: int = TRIES
    first_wait_s: float = FIRST_WAIT_S
    wait_s_max: float = WAIT_S_MAX

    def wait_s(self, status: int | None, retry_after_s: float | None, tried: int) -> float | None:
        """Seconds to wait before the next try after `tried` ones; None: it is not sent again."""
        again = status in {TOO_MANY, OVERLOADED} or (status == NOT_NOW and retry_after_s is not None)
        if not again or tried >= self.tries:
            return None
        wait = self.first_wait_s * 2 ** (tried - 1) if retry_after_s is None else retry_after_s
        return wait if wait <= self.wait_s_max else None


PATIENCE = Patience()


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that `Retry-After` names, as a number or as a date (RFC 9110, 10.2.3); None without one that is right."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit() and len(said) < len("1000000000"):
        return float(said)
    try:
        at = email.utils.parsedate_to_datetime(said)
    except ValueError:
        return None
    return max(0.0, at.timestamp() - (time.time() if now is None else now))
