"""Values that stand where a secret would, and are none."""

from __future__ import annotations

import math
import re
from collections import Counter

_WORDS = frozenset(
    b"admin changeit changeme default dev dummy example foobar guest hunter2 none null pass passwd password postgres "
    b"pwd redacted redis root secret test token user xxx your_password yourpassword mypassword".split()
)
_TEMPLATE = re.compile(
    rb"[$<{%*\[(][^\n]*|[^\n]*(?:\*{3}|\.{3}|xxxx|\xe2\x80\xa6|<[a-z_ -]+>|\$\{)[^\n]*", re.IGNORECASE
)
_CALLED = re.compile(rb"(?:your|my|example|sample|fake|dummy|placeholder|insert|replace)[-_]?[a-z_-]*", re.IGNORECASE)


def is_placeholder(value: bytes) -> bool:
    """A word that everybody writes, a template, or one character again and again."""
    return (
        value.lower() in _WORDS
        or len(set(value)) < 3  # noqa: PLR2004 — `aaaa`, `abab`
        or _TEMPLATE.fullmatch(value) is not None
        or _CALLED.fullmatch(value) is not None
    )


def entropy_bits(value: bytes) -> float:
    """Of Shannon, a byte: 0 for one character again and again, about 5 for 40 random ones."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
