"""Personal data, looked for on request only: e-mail addresses, telephone numbers, IBANs, payment cards."""

from __future__ import annotations

import re

from kvfence.scan.credentials.checksums import passes_luhn, passes_mod_97
from kvfence.scan.credentials.rule import Rule

_NOBODYS = re.compile(
    rb"@(?:[\w.-]+\.)?(?:example|test|invalid|localhost)(?:\.(?:com|org|net))?$|^(?:git|noreply|no-reply)@|@users\.noreply\.",
    re.IGNORECASE,
)
"""RFC 2606, and addresses that programs write from."""


def _digits(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"\D", b"", match["secret"])


def _is_card(match: re.Match[bytes]) -> bool:
    digits = _digits(match).decode()
    return len(set(digits)) > 2 and passes_luhn(digits)  # noqa: PLR2004 — 4242 4242 … is everybody's example


def _compact(match: re.Match[bytes]) -> bytes:
    return match["secret"].replace(b" ", b"").upper()


def _is_iban(match: re.Match[bytes]) -> bool:
    return 15 <= len(_compact(match)) <= 34 and passes_mod_97(_compact(match).decode())  # noqa: PLR2004 — ISO 13616


def _is_somebodys(match: re.Match[bytes]) -> bool:
    return _NOBODYS.search(match["secret"]) is None


def _lower(match: re.Match[bytes]) -> bytes:
    return match["secret"].lower()


PERSONAL = (
    Rule(
        kind="personal-email",
        pattern=rb"(?<![\w.+%/:-])(?P<secret>[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24})(?![\w@:])",
        is_one=_is_somebodys,
        named=_lower,
    ),
    Rule(
        kind="personal-phone",
        pattern=rb"(?<![\w+.-])(?P<secret>\+[1-9][0-9]{0,2}(?:[ .\-()]{0,2}[0-9]){7,13})(?![0-9])",
        named=_digits,
    ),
    Rule(
        kind="personal-iban",
        pattern=rb"\b(?P<secret>[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?)\b",
        is_one=_is_iban,
        named=_compact,
    ),
    Rule(
        kind="personal-card",
        pattern=rb"(?<![\w.+-])(?P<secret>[2-6][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7})(?![\w.-])",
        is_one=_is_card,
        named=_digits,
    ),
)
