"""What a client asks of the cell, and every way in which the cell may answer.

These values cross from the HTTP face to the router's driver and back. No HTTP and no pages here: the face knows
nothing of leases, the driver nothing of JSON.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request as the client sent it. It is never edited; a plan made from it is another value."""

    tenant: str
    """The isolation domain: `cache_salt` if sent, else the API key, else `anonymous`."""
    prompt: bytes
    """The tokens of the prompt; the built-in tokenizer has one token a byte."""
    max_new_tokens: int
    stop: tuple[bytes, ...] = ()
    """Texts that end the answer; the matched text is not part of it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some more tokens of the answer."""

    tokens: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The answer is whole. Nothing comes after it."""

    reason: Literal["stop", "length"]
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    """Tokens of the prompt whose KV was reused from the same tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The request never entered: no page was reserved for it. Becomes a 4xx that names both figures (I7)."""

    asked_tokens: int
    """Prompt plus the new tokens that were asked for."""
    prompt_tokens: int
    usable_tokens: int
    """The smallest usable length along the path."""
    gate: str
    """Which gate said so: `router`, `prefill` or `decode`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulted:
    """A check failed or a worker is gone: the request ends with an error and without text (I8)."""

    check: str
    """The invariant or check that failed, such as `I2-count`; or `worker-lost`, or `server-stopping`."""
    message: str


STOPPING = Faulted(check="server-stopping", message="the server is stopping")
"""How every answer ends that is open, or is asked for, when the cell stops."""

Answer = Piece | Finished | Refused | Faulted


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One figure for `/metrics`; labels are few and bounded (worker, state, check), never a tenant or a request."""

    name: str
    """Without the prefix `kvfence_`; counters end in `_total`."""
    kind: Literal["counter", "gauge"]
    value: float
    help: str
    labels: tuple[tuple[str, str], ...] = ()


class Engine(Protocol):
    """What the HTTP face needs of the cell behind it."""

    model: str
    """The model's name, as `/v1/models` tells it."""

    @property
    def usable_tokens(self) -> int:
        """The measured `max_model_len`: the smallest usable length along the path, now (I7)."""
        ...

    def answer(self, ask: Ask) -> AsyncIterator[Answer]:
        """Yield pieces, then exactly one `Finished`, `Refused` or `Faulted`.

        A `Refused` is always the first and only value. Closing the iterator early means that the client hung up.
        """
        ...

    def healthy(self) -> bool:
        """Whether every worker is running."""
        ...

    def samples(self) -> Iterable[Sample]:
        """What `/metrics` shows now."""
        ...
