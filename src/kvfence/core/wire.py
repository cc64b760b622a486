"""Canonical bytes of messages, and the one door where a peer's bytes become events.

JSON with sorted keys; lists of pages and epochs are little-endian 64-bit integers in base64, digests and prefix keys
are joined. Decoding goes by the two tables at the end of this file: what is not in them is not understood. Whatever
is wrong with a peer's bytes is a `WireError`, never a half-made event.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from array import array
from collections.abc import Callable, Iterable
from dataclasses import fields

from kvfence.core import events as on
from kvfence.core.admission import Rejected
from kvfence.core.ids import Digest, Epoch, PageId, PrefixKey, Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Leases
from kvfence.core.manifest import Manifest

DIGEST_BYTES = 16
"""128 bits: see docs/decisions/0005-page-digest.md."""
COUNT_END = 1 << 63
"""Counts, rooms, pages and epochs are below this: a signed 64-bit integer holds them."""


class WireError(Exception):
    """A peer's bytes are not a message. Whose fault it is, is in the name: not ours."""


def encode(event: on.Event) -> bytes:
    """The canonical bytes of a message."""
    name = _NAMES[type(event)]
    body = {field.name: _plain(getattr(event, field.name)) for field in fields(event)}
    return json.dumps({"kind": name, **body}, sort_keys=True, separators=(",", ":")).encode()


def decode(data: bytes) -> on.Event:
    """The event that these bytes are. Raises `WireError`."""
    try:
        body = json.loads(data)
        kind = MESSAGES[body.pop("kind")]
        return kind(**{name: _FIELDS[name](value) for name, value in body.items()})
    except (ValueError, KeyError, TypeError, AttributeError, Violation, RecursionError) as error:
        raise WireError(f"{len(data)} bytes are no message of ours: {type(error).__name__}: {error}") from error


def _plain(value: object) -> object:
    match value:
        case Leases():
            return {
                "room": value.room,
                "tenant": value.tenant,
                "pages": _packed(value.pages),
                "epochs": _packed(value.epochs),
            }
        case Manifest() | Rejected():
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        case tuple():
            return _joined(value) if all(isinstance(item, bytes) for item in value) else _packed(value)
        case _:
            return value


def _packed(numbers: Iterable[int]) -> str:
    values = array("q", numbers)
    if sys.byteorder == "big":
        values.byteswap()
    return base64.b64encode(values.tobytes()).decode()


def _unpacked(text: object) -> tuple[int, ...]:
    values = array("q", _bytes(text))
    if sys.byteorder == "big":
        values.byteswap()
    if values and min(values) < 0:
        raise ValueError("a page or an epoch below 0")
    return tuple(values)


def _joined(items: tuple[bytes, ...]) -> str:
    return base64.b64encode(b"".join(items)).decode()


def _split(text: object) -> tuple[bytes, ...]:
    data = _bytes(text)
    if len(data) % DIGEST_BYTES:
        raise ValueError(f"{len(data)} bytes are no whole digests")
    return tuple(data[at : at + DIGEST_BYTES] for at in range(0, len(data), DIGEST_BYTES))


def _bytes(text: object) -> bytes:
    try:
        return base64.b64decode(_text(text), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    value.encode()  # half a surrogate pair is no text, and nobody could print it: a ValueError
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < COUNT_END:
        raise TypeError("a count was expected")
    return value


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value


def _leases(value: object) -> Leases:
    body = _table(value)
    pages = tuple(PageId(page) for page in _unpacked(body["pages"]))
    epochs = tuple(Epoch(epoch) for epoch in _unpacked(body["epochs"]))
    return Leases(RoomId(_count(body["room"])), TenantId(_text(body["tenant"])), pages, epochs)


def _digests(value: object) -> tuple[Digest, ...] | None:
    return None if value is None else tuple(Digest(item) for item in _split(value))


def _manifest(value: object) -> Manifest:
    body = _table(value)
    return Manifest(
        leases=_leases(body["leases"]),
        tokens=_count(body["tokens"]),
        page_size=_count(body["page_size"]),
        layout=_text(body["layout"]),
        digests=_digests(body["digests"]),
        cached_tokens=_count(body["cached_tokens"]),
    )


def _rejected(value: object) -> Rejected:
    body = _table(value)
    return Rejected(
        asked_tokens=_count(body["asked_tokens"]),
        usable_tokens=_count(body["usable_tokens"]),
        gate=Role(_text(body["gate"])),
    )


MESSAGES: dict[str, Callable[..., on.Event]] = {
    "request-offered": on.RequestOffered,
    "reservation": on.ReservationReceived,
    "pages": on.PagesOffered,
    "manifest": on.ManifestReceived,
    "read-ended": on.ReadEnded,
    "abort": on.AbortReceived,
    "quiet": on.PeerQuiet,
    "refused": on.RequestRefused,
    "faulted": on.RequestFaulted,
    "client-gone": on.ClientGone,
    "tokens": on.TokensDecoded,
    "answer-ended": on.AnswerEnded,
    "limit": on.LimitMeasured,
}
"""Every message that crosses a wire."""

_NAMES = {kind: name for name, kind in MESSAGES.items()}

_FIELDS: dict[str, Callable[[object], object]] = {
    "room": lambda value: RoomId(_count(value)),
    "tenant": lambda value: TenantId(_text(value)),
    "prompt_tokens": _count,
    "max_new_tokens": _count,
    "prefix_keys": lambda value: tuple(PrefixKey(item) for item in _split(value)),
    "leases": _leases,
    "manifest": _manifest,
    "refusal": _rejected,
    "check": lambda value: Check(_text(value)),
    "message": _text,
    "count": _count,
    "reason": _text,
    "completion_tokens": _count,
    "usable_tokens": _count,
    "cached_tokens": _count,
}
