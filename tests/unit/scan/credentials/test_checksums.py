"""What a checksum rules out is no secret."""

from __future__ import annotations

import random

import pytest

from kvfence.scan.credentials.checksums import can_be_real, crc_in_base62, passes_luhn, passes_mod_97
from support.planted_secrets import jwt, with_crc


def test_the_crc_in_base_62_is_the_one_that_is_published():
    """The vector that other implementations of the format have."""
    assert crc_in_base62(b"hello") == b"0zNvy2"


@pytest.mark.parametrize("prefix", ["ghp" + "_", "gho" + "_", "npm" + "_"])
def test_a_token_with_one_letter_changed_is_none(prefix):
    """A CRC notices every single change."""
    value = with_crc(random.Random(3), prefix)
    assert can_be_real(value.encode())
    other = "b" if value[9] == "a" else "a"
    assert not can_be_real((value[:9] + other + value[10:]).encode())


def test_a_jwt_has_a_header():
    """What only looks like three parts of base 64 has none."""
    value = jwt(random.Random(3))
    assert can_be_real(value.encode())
    assert not can_be_real(b"ey" + b"Q" * 30 + value[value.index(".") :].encode())


def test_an_installation_token_needs_no_checksum():
    """GitHub does not always put one there."""
    assert can_be_real(("ghs" + "_" + "a1B2" * 9).encode())


@pytest.mark.parametrize(("digits", "expected"), [("4111111111111111", True), ("4111111111111112", False)])
def test_cards_are_checked_by_luhn(digits, expected):
    """ISO/IEC 7812."""
    assert passes_luhn(digits) is expected


@pytest.mark.parametrize(
    ("iban", "expected"),
    [("DE89370400440532013000", True), ("GB82WEST12345698765432", True), ("DE88370400440532013000", False)],
)
def test_ibans_are_checked_by_mod_97(iban, expected):
    """ISO 13616; the first two are the standard's examples."""
    assert passes_mod_97(iban) is expected
