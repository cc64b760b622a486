"""The constants of XXH3's long form, for the implementations that cannot call xxHash. From its specification, 0.8."""

from __future__ import annotations

import struct

STRIPE_WORDS = 8
BLOCK_STRIPES = 16
MASK = 2**64 - 1
PRIME_1 = 0x9E3779B185EBCA87
PRIME_2 = 0xC2B2AE3D27D4EB4F
PRIME_32 = 0x9E3779B1
AVALANCHE = 0x165667919E3779F9
START = (
    0xC2B2AE3D,
    PRIME_1,
    PRIME_2,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x85EBCA77,
    0x27D4EB2F165667C5,
    PRIME_32,
)
"""The eight accumulators before anything was read."""
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

_LAST_STRIPE = len(SECRET) - 64 - 7
_LOW, _HIGH = 11, len(SECRET) - 64 - 11


def key_words(seed: int) -> tuple[int, ...]:
    """What stripes, scrambling, the last stripe and the two ends are keyed with: 24, then three times 8 words."""
    turned = b"".join(
        struct.pack("<QQ", (low + seed) & MASK, (high - seed) & MASK) for low, high in struct.iter_unpack("<QQ", SECRET)
    )
    words = list(struct.unpack("<24Q", turned))
    for at in (_LAST_STRIPE, _LOW, _HIGH):
        words += struct.unpack_from("<8Q", turned, at)
    return tuple(words)


STRIPES_AT = 0
SCRAMBLE_AT = 16
LAST_AT, LOW_AT, HIGH_AT = 24, 32, 40
"""Where each begins among `key_words`."""


def starts_of(byte_count: int) -> tuple[int, int]:
    """What the lower and the upper half of a hash of so many bytes begin with."""
    return byte_count * PRIME_1 & MASK, ~(byte_count * PRIME_2) & MASK
