"""Kinds that Kingfisher reports only in pairs, or not at all: a lone key id is rotated as well.

Each shape is that of the vendor's own documentation or of tokens that vendors publish as examples.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error

from kvfence.scan.credentials.placeholders import entropy_bits, is_placeholder
from kvfence.scan.credentials.rule import Rule

_RANDOM_BITS_MIN = 3.0
"""Of 16 random characters of base 32, fewer than 1 in 1,000 has less; words of a language that long have less."""
_UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def _is_random(match: re.Match[bytes]) -> bool:
    value = match["secret"]
    return entropy_bits(value) >= _RANDOM_BITS_MIN and not value.endswith(b"EXAMPLE")


def _is_random_secret(match: re.Match[bytes]) -> bool:
    value = match["secret"]
    return entropy_bits(value) >= 4 and b"EXAMPLE" not in value and not value.isalpha()  # noqa: PLR2004 — of 40


def _is_name_and_password(match: re.Match[bytes]) -> bool:
    try:
        name, colon, password = b64decode(match["secret"], validate=True).partition(b":")
    except Error:
        return False
    return bool(name and colon and password) and not is_placeholder(password) and (name + password).isascii()


OWN = (
    Rule(
        kind="aws-access-key-id",
        pattern=rb"\b(?P<secret>(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        public=4,
        is_one=_is_random,
    ),
    Rule(
        kind="aws-secret-access-key",
        pattern=rb"(?i:aws|amazon)[\w.\- ]{0,20}(?i:secret|sk)[\w.\- ]{0,20}[\"'\\]{0,4}\s{0,3}(?:[:=]|=>|:=)"
        rb"\s{0,3}[\"'\\`]{0,4}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        is_one=_is_random_secret,
    ),
    Rule(kind="alibaba-access-key-id", pattern=rb"\b(?P<secret>LTAI[A-Za-z0-9]{20})\b", public=4, is_one=_is_random),
    Rule(kind="langfuse-secret-key", pattern=rb"\b(?P<secret>sk-lf-" + _UUID + rb")\b", public=6),
    Rule(kind="razorpay-key-id", pattern=rb"\b(?P<secret>rzp_live_[A-Za-z0-9]{14})\b", public=9, is_one=_is_random),
    Rule(
        kind="planetscale-token",
        pattern=rb"\b(?P<secret>pscale_(?:tkn|pw|oauth)_[\w=.-]{32,64})",
        public=10,
        is_one=_is_random,
    ),
    Rule(kind="google-oauth-client-secret", pattern=rb"\b(?P<secret>GOCSPX-[\w-]{28})(?![\w-])", public=7),
    Rule(kind="google-oauth-access-token", pattern=rb"\b(?P<secret>ya29\.[\w-]{30,1024})", public=5, is_one=_is_random),
    Rule(kind="telegram-bot-token", pattern=rb"\b(?P<secret>[0-9]{8,10}:AA[\w-]{33})(?![\w-])", is_one=_is_random),
    Rule(
        kind="salesforce-access-token",
        pattern=rb"\b(?P<secret>00D[A-Za-z0-9]{12,15}![\w.]{80,120})",
        public=3,
        is_one=_is_random,
    ),
    Rule(kind="artifactory-api-key", pattern=rb"\b(?P<secret>AKCp[A-Za-z0-9]{69})\b", public=4, is_one=_is_random),
    Rule(kind="mongodb-atlas-secret", pattern=rb"\b(?P<secret>mdb_sa_sk_[\w-]{40})(?![\w-])", public=10),
    Rule(kind="azure-storage-key", pattern=rb"\bAccountKey=(?P<secret>[A-Za-z0-9/+]{86}==)", is_one=_is_random),
    Rule(
        kind="azure-shared-access-signature",
        pattern=rb"[?&](?:sv|se|sp|sr)=[^\s\"'`]{1,300}&sig=(?P<secret>[A-Za-z0-9%/+]{43,75}(?:%3D|=))",
        is_one=_is_random,
    ),
    Rule(
        kind="basic-authorization",
        pattern=rb"(?i:authorization)[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4}(?i:basic)\s(?P<secret>[A-Za-z0-9/+]{8,400}={0,2})",
        is_one=_is_name_and_password,
    ),
)
