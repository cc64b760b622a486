"""Private keys in armour: PEM, OpenSSH, PGP; with real line ends or with escaped ones; whole or cut at the end."""

from __future__ import annotations

import re

from kvfence.scan.credentials.rule import Rule

BODY_MIN = 64
"""Characters of base 64: the smallest private key there is, Ed25519 in PEM, has 64."""
_ARMOUR = re.compile(rb"-----.*?-----|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\r\n\\]*")
_NOT_BODY = re.compile(rb"\\+[nrt]|[^A-Za-z0-9+/=]")


def _body(match: re.Match[bytes]) -> bytes:
    return _NOT_BODY.sub(b"", _ARMOUR.sub(b"", match["secret"]))


def _has_body(match: re.Match[bytes]) -> bool:
    body = _body(match)
    return len(body) >= BODY_MIN and len(set(body)) > 20  # noqa: PLR2004 — of 64; `AAAA…` and `MIIE…` alone have few


PRIVATE_KEYS = (
    Rule(
        kind="private-key",
        pattern=rb"(?P<secret>-----BEGIN (?:[A-Z0-9]{2,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        rb"(?:\\*[nrt]|[A-Za-z0-9+/=:,;.()@<> \r\n\t\"'\\-]){40,60000}?"
        rb"(?:-----END [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?-----|(?![A-Za-z0-9+/=:,;.()@<> \r\n\t\"'\\-])|\Z))",
        is_one=_has_body,
        named=_body,
        reach_bytes=65_536,
        said="private key",
    ),
)
