"""Markers: unique texts that are planted in prompts and must come back, to whoever planted them and nobody else.

25 characters of Crockford's base 32 in five groups, 125 bits: 80 random and a 45-bit tag, which is a MAC over the
random part and the place where the marker was planted. So a marker found in an answer is told from a look-alike that
a model made up (p = 2**-45), and whoever has the campaign's key can say offline who planted it, where. No marker has
the shape of a real key.
"""

from __future__ import annotations

import hashlib
import hmac
import random
import re
from dataclasses import dataclass

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NONCE_CHARS = 16
TAG_CHARS = 9
GROUP = 5
SHAPE = re.compile(rf"(?<![{ALPHABET}])(?:[{ALPHABET}]{{{GROUP}}}-){{4}}[{ALPHABET}]{{{GROUP}}}(?![{ALPHABET}])")


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
    plain = nonce + _tag(key, nonce, place)
    return Marker("-".join(plain[at : at + GROUP] for at in range(0, len(plain), GROUP)), place)


def is_genuine(text: str, key: bytes, place: Place) -> bool:
    """Whether `text` is the marker that was planted at `place` in the campaign with this key."""
    plain = text.replace("-", "")
    return hmac.compare_digest(plain[NONCE_CHARS:], _tag(key, plain[:NONCE_CHARS], place))


def markers_in(answer: str) -> list[str]:
    """Everything in an answer that has the shape of a marker, in order."""
    return SHAPE.findall(answer.upper())


def _tag(key: bytes, nonce: str, place: Place) -> str:
    where = f"{nonce}|{place.tenant}|{place.request}|{place.depth}".encode()
    number = int.from_bytes(hmac.digest(key, where, hashlib.sha256)[:6], "big")
    return "".join(ALPHABET[number >> 5 * at & 31] for at in range(TAG_CHARS))
