"""JSON web tokens (RFC 7519), however long: those of some providers have kilobytes of claims."""

from __future__ import annotations

import re

from kvfence.scan.credentials.checksums import has_jose_header
from kvfence.scan.credentials.rule import Rule


def _unescaped(match: re.Match[bytes]) -> bytes:
    return match["secret"].replace(b"\\", b"")


def _is_token(match: re.Match[bytes]) -> bool:
    return has_jose_header(match["header"])


TOKENS = (
    Rule(
        kind="jwt",
        pattern=rb"(?:(?<![\w-])|(?<=\\[nrt]))(?P<secret>(?P<header>ey[\w-]{17,4000})\.ey[\w/\\-]{17,60000}"
        rb"\.(?:[\w/\\-]{10,2000}={0,2})?)",
        public=3,
        is_one=_is_token,
        named=_unescaped,
        reach_bytes=65_536,
        begins=rb"ey[\w-]{17,}\.ey[\w-]{17,}",
    ),
)
