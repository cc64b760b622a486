"""The history of a campaign: what was asked, what came back. Recorded first, judged after: it can be judged again."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from kvfence.findings.recall import LengthResult
from kvfence.probe.limits import NOTHING, Cost
from kvfence.probe.prompts import PLAIN, Form, Recipe

Part = Literal["seed", "harvest", "hang-up", "cut-off"]
"""A seed plants markers and fills the pool; a harvest asks where something foreign may show; both are judged. At a
hang-up the probe closes the connection on purpose: what came by then is looked at for others' markers and for nothing
else. What was sent when the probe itself was stopped is cut off: its markers are planted, nothing is known of its
answer."""

CUT_OFF: Final = "cut-off"


class Scenario(StrEnum):
    """In which manner requests are sent; what each is for is said where it is planned."""

    SWEEP = "sweep"
    ALTERNATING = "alternating"
    CONCURRENT = "concurrent"
    HANG_UP = "hang-up"
    PINNED_POOL = "pinned-pool"
    SHARED_PREFIX = "shared-prefix"
    STREAMING = "streaming"
    JSON_ECHO = "json-echo"


DEFAULT_SCENARIOS = (Scenario.SWEEP, Scenario.JSON_ECHO)
"""What is cheap and finds most; decision 25 has the figures."""


class Delivery(StrEnum):
    """How an answer is asked for."""

    WHOLE = "whole"
    STREAMED = "streamed"
    """As server-sent events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp:
    """When the probe closes a connection on purpose."""

    pieces: int = 0
    """So many pieces of a streamed answer have come; 0: by time."""
    wait_s: float = 0.0
    """By time: seconds after the whole request was sent, whatever has come by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request that a campaign wants to make."""

    part: Part
    tenant: str
    """Whose request it is, by name."""
    tokens: int
    """Prompt tokens that are aimed at."""
    why: str
    scenario: Scenario = Scenario.SWEEP
    round_number: int = 0
    """Of its scenario, from 0."""
    form: Form = PLAIN
    """Of its prompt."""
    delivery: Delivery = Delivery.WHOLE
    hang_up: HangUp | None = None
    """None: the answer is waited for."""


Round = tuple[Step, ...]
"""Requests that may all be under way at once; the next round begins when the last of them has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request that was made."""

    step: Step
    recipe: Recipe
    """Of its prompt; `recipe.request` is the request's number in the campaign, from 0."""
    tokens: int
    """Prompt tokens as the endpoint counts them, or as near as could be told."""
    status: int | None
    exact: bool = True
    """Whether `tokens` is a count, or an estimate."""
    answer: str = field(default="", repr=False)
    foretold_tokens: int | None = None
    """Prompt tokens by what was known before it was sent; None where that was no more than a guess."""
    usage_tokens: int | None = None
    """Prompt tokens as the endpoint's usage says."""
    finish_reason: str | None = None
    """Why the answer ended, as the endpoint says; `length` is the limit of the answer's tokens."""
    detail: str = ""
    """The endpoint's own error message, or what went wrong on the way."""
    started_s: float = 0.0
    """Seconds since the campaign began."""
    ended_s: float = 0.0
    tries: int = 1
    """How often it was sent: more than once where the endpoint said "later"."""
    spent: Cost = NOTHING
    """In all its tries; the most that it can have been where the endpoint does not say."""
    told_apart_by: tuple[str, ...] = ()
    """Fields of the request that differed between tenants, as the endpoint accepts them."""
    answered_by: str = ""
    """Who answered, where that is another provider than the one that was asked for."""


History = tuple[Exchange, ...]
"""In the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One request that was made, and what its answer shows."""

    exchange: Exchange
    result: LengthResult


Seen = tuple[Judged, ...]
"""A judged history."""


def of_scenario(seen: Seen, scenario: Scenario) -> Seen:
    """The part that one scenario made."""
    return tuple(one for one in seen if one.exchange.step.scenario is scenario)


def rounds_made(seen: Seen, scenario: Scenario) -> int:
    """How many rounds a scenario has made."""
    own = of_scenario(seen, scenario)
    return own[-1].exchange.step.round_number + 1 if own else 0
