"""Markers: unique texts that are planted in prompts and must come back, to whoever planted them and nobody else.

25 characters of Crockford's base 32 in five groups, 125 bits: 80 random, 25 that follow from those by a public rule,
and 20 that are a MAC over the place where the marker was planted. So a marker is told from a look-alike that a model
made up (p = 2**-25), also one of another campaign; and whoever has a campaign's key can say offline who planted it,
where. No marker has the shape of a real key.
"""

from __future__ import annotations

import hashlib
import hmac
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NONCE_CHARS = 16
SIGN_CHARS = 5
PLACE_CHARS = 4
_SIGN = b"kvfence marker 1"
GROUP = 5
MARKER_CHARS = 29
"""Five groups and the dashes between them."""
_GROUP = f"[{ALPHABET}]{{{GROUP}}}"
SHAPE = re.compile(rf"(?<![{ALPHABET}])(?:{_GROUP}-){{4}}{_GROUP}(?![{ALPHABET}])")
_ANYWHERE = re.compile(rf"(?<![{ALPHABET}])(?=((?:{_GROUP}-){{4}}{_GROUP})(?![{ALPHABET}]))")
_PIECE = re.compile(rf"(?=({_GROUP}-{_GROUP}))")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a marker stands: whose prompt, which request of the campaign, and which of its depths, from 1."""

    tenant: str
    request: int
    depth: int


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker and where it was planted."""

    text: str
    place: Place


def make_marker(rng: random.Random, key: bytes, place: Place) -> Marker:
    """A new marker for `place`."""
    nonce = "".join(rng.choices(ALPHABET, k=NONCE_CHARS))
    plain = nonce + _sign(nonce) + _mac(key, nonce, place)
    return Marker("-".join(plain[at : at + GROUP] for at in range(0, len(plain), GROUP)), place)


def is_ours(text: str) -> bool:
    """Whether `text` is a marker of some kvfence campaign, and not a look-alike."""
    plain = text.replace("-", "")
    return hmac.compare_digest(plain[NONCE_CHARS : NONCE_CHARS + SIGN_CHARS], _sign(plain[:NONCE_CHARS]))


def was_planted_at(text: str, key: bytes, place: Place) -> bool:
    """Whether `text` is the marker that the campaign with this key planted at `place`."""
    return place in places_of(text, key, (place,))


def places_of(text: str, key: bytes, places: Iterable[Place]) -> Iterator[Place]:
    """Those of `places` at which the campaign with this key may have planted `text`; by chance, one in a million."""
    if not is_ours(text):
        return
    plain = text.replace("-", "")
    for place in places:
        if hmac.compare_digest(plain[-PLACE_CHARS:], _mac(key, plain[:NONCE_CHARS], place)):
            yield place


def markers_in(answer: str) -> list[str]:
    """Everything in an answer that has the shape of a marker, in order, also where two overlap."""
    return _ANYWHERE.findall(answer.upper())


def pieces_in(answer: str) -> frozenset[str]:
    """Every two groups that stand beside each other: 50 bits, enough to know a marker that is cut or spliced."""
    return frozenset(_PIECE.findall(answer.upper()))


def _sign(nonce: str) -> str:
    return _letters(hmac.digest(_SIGN, nonce.encode(), hashlib.sha256), SIGN_CHARS)


def _mac(key: bytes, nonce: str, place: Place) -> str:
    where = f"{nonce}|{place.tenant}|{place.request}|{place.depth}".encode()
    return _letters(hmac.digest(key, where, hashlib.sha256), PLACE_CHARS)


def _letters(digest: bytes, count: int) -> str:
    number = int.from_bytes(digest[:8], "big")
    return "".join(ALPHABET[number >> 5 * at & 31] for at in range(count))
