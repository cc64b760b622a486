"""Limits that are never exceeded: what may be spent, and how fast. Kept where requests are sent, retries included.

Before a request is sent, the most that it can cost is set aside; when its answer is there, what is not spent comes
back. A prompt's most is its count, or, where it is an estimate, what no tokenizer can exceed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kvfence.findings.spent import Spent

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens."""

    per_million_in: float
    per_million_out: float

    def usd(self, prompt_tokens: int, answer_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.per_million_in + answer_tokens * self.per_million_out) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may spend. Not part of a campaign: one that was stopped by them goes on with higher ones."""

    tokens: int | None = None
    """Of prompts and answers together."""
    usd: float | None = None
    """Only with prices."""
    prices: Prices | None = None
    requests_per_s: float | None = None
    """Of every request, those that only count tokens as well."""
    requests: int | None = None
    """With retries."""


UNLIMITED = Limits()


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one request."""

    prompt_tokens: int
    answer_tokens: int


NOTHING = Cost(0, 0)


class OverLimitError(Exception):
    """The next request might exceed a limit, so it was not sent. The message names the limit."""


@dataclass(slots=True)
class Till:
    """What several campaigns may spend together, one after the other or at once."""

    tokens_max: int | None = None
    usd_max: float | None = None
    _purses: dict[str, list[Purse]] = field(default_factory=dict, init=False)

    def share(self, name: str) -> Share:
        """The share of the campaign of that name."""
        return Share(self, name)

    def join(self, name: str, purse: Purse) -> None:
        """What this campaign spends is in `purse` from now on, with what it spent before once that is recalled."""
        self._purses.setdefault(name, []).append(purse)

    @property
    def tokens(self) -> int:
        """Of all prompts and answers."""
        return sum(self._tokens(name) for name in self._purses)

    @property
    def usd(self) -> float | None:
        """What all cost; None where a price is not known."""
        spent = [self._usd(name) for name in self._purses]
        known = [usd for usd in spent if usd is not None]
        return sum(known) if len(known) == len(spent) else None

    def check(self, name: str, tokens_after: int, usd_after: float) -> None:
        """Raise `OverLimitError` where a campaign that has come to so much would be too much for all."""
        others = [other for other in self._purses if other != name]
        tokens = tokens_after + sum(self._tokens(other) for other in others)
        if self.tokens_max is not None and tokens > self.tokens_max:
            raise OverLimitError(f"the budget of {self.tokens_max:,} tokens for all")
        usd = usd_after + sum(self._usd(other) or 0.0 for other in others)
        if self.usd_max is not None and usd > self.usd_max:
            raise OverLimitError(f"the budget of {self.usd_max:,.2f} US dollars for all")

    def _tokens(self, name: str) -> int:
        return max(purse.prompt_tokens + purse.answer_tokens for purse in self._purses[name])

    def _usd(self, name: str) -> float | None:
        return max((usd for purse in self._purses[name] if (usd := purse.spent.usd) is not None), default=None)


@dataclass(frozen=True, slots=True)
class Share:
    """One campaign's part in a till."""

    till: Till
    name: str


@dataclass(slots=True)
class Purse:
    """What has been spent and what is set aside."""

    limits: Limits
    share: Share | None = None
    prompt_tokens: int = 0
    answer_tokens: int = 0
    requests: int = 0

    def __post_init__(self) -> None:
        if self.share:
            self.share.till.join(self.share.name, self)

    def set_aside(self, cost: Cost) -> None:
        """For one request, the most that it can cost. Raises `OverLimitError`."""
        limits = self.limits
        after_in, after_out = self.prompt_tokens + cost.prompt_tokens, self.answer_tokens + cost.answer_tokens
        if limits.requests is not None and self.requests >= limits.requests:
            raise OverLimitError(f"the limit of {limits.requests:,} requests")
        if limits.tokens is not None and after_in + after_out > limits.tokens:
            raise OverLimitError(f"the budget of {limits.tokens:,} tokens")
        if limits.usd is not None and limits.prices and limits.prices.usd(after_in, after_out) > limits.usd:
            raise OverLimitError(f"the budget of {limits.usd:,.2f} US dollars")
        if self.share:
            usd_after = limits.prices.usd(after_in, after_out) if limits.prices else 0.0
            self.share.till.check(self.share.name, after_in + after_out, usd_after)
        self.prompt_tokens, self.answer_tokens, self.requests = after_in, after_out, self.requests + 1

    def give_back(self, prompt_tokens: int, answer_tokens: int) -> None:
        """What was set aside and not spent."""
        self.prompt_tokens -= prompt_tokens
        self.answer_tokens -= answer_tokens

    def recall(self, cost: Cost, requests: int) -> None:
        """What an earlier part of the campaign spent."""
        self.prompt_tokens += cost.prompt_tokens
        self.answer_tokens += cost.answer_tokens
        self.requests += requests

    def apart(self) -> Purse:
        """One with the same in it that is of no till, to try what may come."""
        return replace(self, share=None)

    @property
    def spent(self) -> Spent:
        """As it is reported."""
        prices = self.limits.prices
        return Spent(
            requests=self.requests,
            prompt_tokens=self.prompt_tokens,
            answer_tokens=self.answer_tokens,
            usd=prices.usd(self.prompt_tokens, self.answer_tokens) if prices else None,
        )


@dataclass(slots=True)
class Pace:
    """Lets requests through no faster than so many a second, evenly."""

    requests_per_s: float | None
    clock: Callable[[], float]
    _next: float = field(default=0.0, init=False)

    async def wait(self) -> None:
        """Until the next request may be sent."""
        if self.requests_per_s is None:
            return
        now = self.clock()
        at = max(self._next, now)
        self._next = at + 1 / self.requests_per_s
        await asyncio.sleep(at - now)
