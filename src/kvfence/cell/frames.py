"""What travels between workers: a message of core in its canonical bytes, and beside it what core never sees.

Core decides about tokens and pages by their counts; the tokens themselves and the bytes of pages are the payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import msgspec

from kvfence.cell.asks import Ask
from kvfence.core import wire
from kvfence.core.events import Event, RequestOffered
from kvfence.core.ids import RoomId


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: `wire.encode(event)` and its payload (empty for most)."""

    message: bytes
    payload: bytes = b""

    @classmethod
    def of(cls, event: Event, payload: bytes = b"") -> Frame:
        """The frame that carries `event`."""
        return cls(wire.encode(event), payload)

    def event(self) -> Event:
        """The event inside. Raises `wire.WireError`."""
        return wire.decode(self.message)


class Control(StrEnum):
    """Orders of the cell's own supervisor; they never come from a peer."""

    STOP = "stop"
    PREFILL_LOST = "prefill-lost"
    DECODE_LOST = "decode-lost"
    ROUTER_LOST = "router-lost"


@dataclass(frozen=True, slots=True)
class Report:
    """A worker's figures, for `/metrics`; `log` holds lines for the cell's log."""

    role: str
    figures: Mapping[tuple[str, tuple[tuple[str, str], ...]], float]
    log: tuple[str, ...] = ()


Parcel = Frame | Control | Report


class Inbox(Protocol):
    """The receiving end of a worker's mailbox; messages of one sender arrive in the order sent."""

    def get(self, block: bool = True, timeout: float | None = None) -> Parcel:  # noqa: FBT001, FBT002 — queue.Queue's own signature
        """The next parcel. Raises `queue.Empty` when none came in time."""
        ...


class Outbox(Protocol):
    """The sending end of somebody's mailbox."""

    def put(self, item: Parcel) -> None:
        """Post without waiting for the receiver."""
        ...


class Work(msgspec.Struct, frozen=True):
    """The payload of an offer: what to compute and when to stop."""

    prompt: bytes
    stop: tuple[bytes, ...] = ()

    @classmethod
    def beside(cls, event: Event, asks: Mapping[RoomId, Ask]) -> bytes:
        """The payload that travels with a message of the router: the room's work with an offer, else nothing."""
        if not isinstance(event, RequestOffered):
            return b""
        ask = asks[event.room]
        return cls(ask.prompt, ask.stop).packed()

    def packed(self) -> bytes:
        """As a payload."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def unpacked(cls, payload: bytes) -> Work:
        """From a payload. Raises `wire.WireError`."""
        try:
            return msgspec.msgpack.decode(payload, type=cls)
        except msgspec.DecodeError as error:
            raise wire.WireError(f"{len(payload)} bytes are no work: {error}") from error

    @classmethod
    def offered(cls, event: RequestOffered, payload: bytes) -> Work:
        """The work of an offer, with as many tokens as the offer says. Raises `wire.WireError`."""
        work = cls.unpacked(payload)
        if len(work.prompt) != event.prompt_tokens:
            raise wire.WireError(f"{event.prompt_tokens} tokens were offered and {len(work.prompt)} came")
        return work
