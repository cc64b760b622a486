"""Formats that say themselves whether a value can be real. What fails was made up, cut or garbled."""

from __future__ import annotations

import binascii
import json
import re
import zlib
from base64 import urlsafe_b64decode

_BASE62 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_WITH_CRC = re.compile(rb"(?:gh[pour]|npm)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})")
"""GitHub, 5 April 2021, "Behind GitHub's new authentication token formats": the last six digits are the CRC-32 of the
thirty before in base 62; npm has the same. Tokens of installations (`ghs_`) do not always carry it."""
_JWT = re.compile(rb"(ey[\w-]+)\.ey[\w/\\-]+\.")
_IBAN_DIGITS = {ord("A") + number: str(10 + number) for number in range(26)}


def crc_in_base62(body: bytes, *, digits: int = 6) -> bytes:
    """The CRC-32 in base 62, with noughts before it."""
    value, out = zlib.crc32(body), bytearray()
    while value:
        value, digit = divmod(value, 62)
        out.append(_BASE62[digit])
    return bytes(out[::-1]).rjust(digits, b"0")


def can_be_real(value: bytes) -> bool:
    """False where the format of this value has a checksum, or a header, and it does not fit."""
    if crc := _WITH_CRC.fullmatch(value):
        return crc_in_base62(crc[1]) == crc[2]
    if token := _JWT.match(value):
        return has_jose_header(token[1])
    return True


def passes_luhn(digits: str) -> bool:
    """ISO/IEC 7812: payment cards."""
    total = 0
    for number, digit in enumerate(reversed(digits)):
        value = int(digit) << (number % 2)
        total += value - 9 * (value > 9)  # noqa: PLR2004 — the sum of its two digits
    return total % 10 == 0


def passes_mod_97(iban: str) -> bool:
    """ISO 13616, of capitals and digits without spaces."""
    return int((iban[4:] + iban[:4]).translate(_IBAN_DIGITS)) % 97 == 1


def has_jose_header(part: bytes) -> bool:
    """RFC 7515: an object with the algorithm, or at least the type, in base 64."""
    try:
        header = json.loads(urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "typ" in header)
