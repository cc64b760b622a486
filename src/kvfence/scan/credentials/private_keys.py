"""Private keys in armour: PEM, OpenSSH, PGP; with real line ends or with escaped ones; whole or cut at the end."""

from __future__ import annotations

import re

from kvfence.scan.credentials.rule import Rule

BODY_MIN = 64
"""Characters of base 64: the smallest private key there is, Ed25519 in PEM, has 64."""
_ARMOUR = re.compile(rb"-----.*?-----|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):[^\r\n\\]*")
_ESCAPE = re.compile(rb"\\+[nrt]")
_NOT_BODY = re.compile(rb"[^A-Za-z0-9+/=]")
_LINE = re.compile(rb"[A-Za-z0-9+/=]{40,}")
_RUN = re.compile(rb"[A-Za-z0-9+/=]{16,}")


def _body(match: re.Match[bytes]) -> bytes:
    """Its base 64 alone; of a key that was cut off, without the words that may follow."""
    inside = _ESCAPE.sub(b" ", _ARMOUR.sub(b" ", match["secret"]))
    return _NOT_BODY.sub(b"", inside) if match["end"] else b"".join(_RUN.findall(inside))


def _has_body(match: re.Match[bytes]) -> bool:
    body = _body(match)
    is_base_64 = _LINE.search(_ESCAPE.sub(b" ", _ARMOUR.sub(b" ", match["secret"]))) is not None
    return is_base_64 and len(body) >= BODY_MIN and len(set(body)) > 20  # noqa: PLR2004 — `AAAA…` has few


PRIVATE_KEYS = (
    Rule(
        kind="private-key",
        pattern=rb"(?P<secret>-----BEGIN (?:[A-Z0-9]{2,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        rb"(?:[A-Za-z0-9+/=:,;.()@<> \r\n\t\"'\\]|-(?!----)){40,60000}"
        rb"(?P<end>-----END [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?-----)?)",
        is_one=_has_body,
        named=_body,
        reach_bytes=65_536,
        begins=rb"-----BEGIN [A-Z0-9 ]{0,60}PRIVATE KEY",
        said="private key",
    ),
)
