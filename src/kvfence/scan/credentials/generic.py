"""Values of settings that are named like secrets, looked for on request only: many are none."""

from __future__ import annotations

import re

from kvfence.scan.credentials.placeholders import entropy_bits, is_placeholder
from kvfence.scan.credentials.rule import Rule

_BITS_MIN = 3.0
"""A byte. Identifiers and words have less, random values of 12 characters and more have more."""


def _looks_random(match: re.Match[bytes]) -> bool:
    value = match["secret"]
    kinds = sum(re.search(one, value) is not None for one in (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9]"))
    return kinds > 1 and entropy_bits(value) >= _BITS_MIN and not is_placeholder(value)


GENERIC = (
    Rule(
        kind="generic-secret",
        pattern=rb"(?i)(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token)[\"'\\]{0,4}"
        rb"\s{0,3}(?:=>|:=|[:=])\s{0,3}[\"'\\`]{0,4}(?P<secret>[^\s\"'`,;\\<>(){}]{8,128})",
        is_one=_looks_random,
    ),
)
