"""Secrets of many kinds, made up: of the right shape and checksum, built from parts so that no file holds one."""

from __future__ import annotations

import base64
import json
import random
import string
import zlib
from collections.abc import Callable
from dataclasses import dataclass

UPPER32 = string.ascii_uppercase + "234567"
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URL64 = ALNUM + "-_"
B64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class Planted:
    """One of them."""

    kind: str
    value: str
    """What nobody may read in an output."""
    written: str
    """As a text has it, with what its kind needs beside it."""


def some(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def digits(rng: random.Random, length: int) -> str:
    return some(rng, string.digits, length)


def uuid(rng: random.Random) -> str:
    return "-".join(some(rng, HEX, length) for length in (8, 4, 4, 4, 12))


def with_crc(rng: random.Random, prefix: str) -> str:
    """GitHub's and npm's form: 30 random letters and digits, and their CRC-32 in base 62."""
    body, crc = some(rng, ALNUM, 30), ""
    value = zlib.crc32(body.encode())
    for _ in range(6):
        value, digit = divmod(value, 62)
        crc = (string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit] + crc
    return prefix + body + crc


def jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    header, claims = {"alg": "HS256", "typ": "JWT"}, {"sub": some(rng, HEX, 12), "iat": 1_788_000_000}
    return f"{part(header)}.{part(claims)}.{some(rng, URL64, 43)}"


def pem(rng: random.Random, label: str, size: int) -> str:
    body = some(rng, B64, size)
    lines = "\n".join(body[at : at + 64] for at in range(0, size, 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"


def in_uri(before: str, after: str) -> Callable[[random.Random], tuple[str, str]]:
    """A password in a connection string."""

    def made(rng: random.Random) -> tuple[str, str]:
        value = some(rng, ALNUM, 16)
        return value, f"{before}{value}{after}"

    return made


def alone(make: Callable[[random.Random], str]) -> Callable[[random.Random], tuple[str, str]]:
    """A value that says itself what it is."""

    def made(rng: random.Random) -> tuple[str, str]:
        value = make(rng)
        return value, value

    return made


def beside(name: str, make: Callable[[random.Random], str]) -> Callable[[random.Random], tuple[str, str]]:
    """A value that only a name beside it makes a secret."""

    def made(rng: random.Random) -> tuple[str, str]:
        value = make(rng)
        return value, f'{name} = "{value}"'

    return made


KINDS: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "aws-access-key-id": alone(lambda rng: "AKIA" + some(rng, UPPER32, 16)),
    "aws-secret-access-key": beside("aws_secret_access_key", lambda rng: some(rng, B64, 39) + "Q"),
    "github-pat": alone(lambda rng: with_crc(rng, "ghp" + "_")),
    "github-oauth": alone(lambda rng: with_crc(rng, "gho" + "_")),
    "github-fine-grained-pat": alone(lambda rng: f"github{'_'}pat_{some(rng, ALNUM, 22)}_{some(rng, ALNUM, 59)}"),
    "npm": alone(lambda rng: with_crc(rng, "npm" + "_")),
    "gitlab": alone(lambda rng: "glpat" + "-" + some(rng, URL64, 20)),
    "slack-bot": alone(lambda rng: "-".join(["xox" + "b", digits(rng, 12), digits(rng, 12), some(rng, ALNUM, 24)])),
    "slack-webhook": alone(
        lambda rng: "/".join(
            [
                "https://hooks.sl" + "ack.com/services",
                "T" + some(rng, UPPER32, 8),
                "B" + some(rng, UPPER32, 10),
                some(rng, ALNUM, 24),
            ]
        )
    ),
    "stripe": alone(lambda rng: "sk" + "_live_" + some(rng, ALNUM, 24)),
    "openai": alone(lambda rng: f"sk-{'proj'}-{some(rng, URL64, 74)}T3Blbk{'FJ'}{some(rng, URL64, 73)}A"),
    "anthropic": alone(lambda rng: f"sk-{'ant'}-api03-{some(rng, URL64, 93)}AA"),
    "huggingface": alone(lambda rng: "hf" + "_" + some(rng, string.ascii_letters, 34)),
    "google-api-key": alone(lambda rng: "AI" + "za" + some(rng, URL64, 34) + "k"),
    "google-oauth-client-secret": alone(lambda rng: "GOC" + "SPX-" + some(rng, URL64, 27) + "b"),
    "google-oauth-access-token": alone(lambda rng: "ya29" + ".a0" + some(rng, URL64, 119) + "k"),
    "sendgrid": alone(lambda rng: f"SG{'.'}{some(rng, URL64, 22)}.{some(rng, URL64, 42)}k"),
    "digitalocean": alone(lambda rng: "dop" + "_v1_" + some(rng, HEX, 64)),
    "doppler": alone(lambda rng: "dp" + ".pt." + some(rng, LOWER, 43)),
    "databricks": alone(lambda rng: "dap" + "i" + some(rng, HEX, 32)),
    "grafana": alone(lambda rng: f"gls{'a'}_{some(rng, ALNUM, 32)}_{some(rng, HEX, 8)}"),
    "shopify": alone(lambda rng: "shp" + "at_" + some(rng, HEX, 32)),
    "pypi": alone(lambda rng: "pypi-" + "AgEIcHlwaS5vcmc" + some(rng, URL64, 79) + "k"),
    "rubygems": alone(lambda rng: "ruby" + "gems_" + some(rng, HEX, 48)),
    "linear": alone(lambda rng: "lin_" + "api_" + some(rng, ALNUM, 40)),
    "postman": alone(lambda rng: f"PM{'AK'}-{some(rng, HEX, 24)}-{some(rng, HEX, 34)}"),
    "planetscale-token": alone(lambda rng: "pscale" + "_tkn_" + some(rng, ALNUM, 43)),
    "langfuse-secret-key": alone(lambda rng: "sk-" + "lf-" + uuid(rng)),
    "telegram-bot-token": alone(lambda rng: f"{rng.randrange(10**9, 9 * 10**9)}:{'AA'}{some(rng, URL64, 32)}k"),
    "alibaba-access-key-id": alone(lambda rng: "LT" + "AI" + some(rng, ALNUM, 20)),
    "datadog": beside("datadog_api_key", lambda rng: some(rng, HEX, 40)),
    "heroku": beside("heroku_api_key", uuid),
    "jwt": alone(jwt),
    "private-key-rsa": alone(lambda rng: pem(rng, "RSA " + "PRIVATE KEY", 1624)),
    "private-key-openssh": alone(lambda rng: pem(rng, "OPENSSH " + "PRIVATE KEY", 364)),
    "private-key-ec": alone(lambda rng: pem(rng, "EC " + "PRIVATE KEY", 164)),
    "private-key-pgp": alone(lambda rng: pem(rng, "PGP " + "PRIVATE KEY BLOCK", 2600)),
    "postgres": in_uri("postgres://svc_app:", "@db.internal:5432/app"),
    "mongodb": in_uri("mongodb+srv://svc:", "@cluster0.ab1cd.mongodb.net/app"),
    "redis": in_uri("redis://:", "@cache.internal:6379/0"),
    "amqp": in_uri("amqps://worker:", "@mq.internal/vhost"),
    "jdbc": in_uri("jdbc:postgresql://db.internal/app?user=svc&password=", ""),
    "ado-net": in_uri("Server=db.internal;Database=app;User Id=svc;Password=", ";Encrypt=true"),
    "azure-storage-key": in_uri("DefaultEndpointsProtocol=https;AccountName=store;AccountKey=", ""),
    "basic-authorization": in_uri("", ""),
}


def _azure(rng: random.Random) -> tuple[str, str]:
    value = some(rng, B64, 86) + "=="
    return value, f"DefaultEndpointsProtocol=https;AccountName=store;AccountKey={value};EndpointSuffix=core.windows.net"


def _basic(rng: random.Random) -> tuple[str, str]:
    value = base64.b64encode(f"svc:{some(rng, ALNUM, 20)}".encode()).decode()
    return value, f"Authorization: Basic {value}"


KINDS |= {"azure-storage-key": _azure, "basic-authorization": _basic}


def planted(rng: random.Random, kind: str) -> Planted:
    """One of this kind."""
    value, written = KINDS[kind](rng)
    return Planted(kind, value, written)


def as_json(one: str) -> str:
    return json.dumps({"config": {"note": "set by ops", "credential": one}})


def as_code(one: str) -> str:
    return (
        f"def connect():\n    client = Client(retries=3)  # see the wiki\n    return client.login({one!r}, timeout=5)\n"
    )


def as_env(one: str) -> str:
    return f"LOG_LEVEL=info\nCREDENTIAL={one}\nPORT=8080\n"


def as_url(one: str) -> str:
    return f"GET https://api.corp.internal/v2/items?limit=10&credential={one}&page=2 returned 401."


def as_escaped(one: str) -> str:
    return json.dumps(as_json(one))[1:-1]


def as_prose(one: str) -> str:
    return f"Hi, it still fails for me (with {one}), could you have a look? Thanks."


CARRIERS: dict[str, Callable[[str], str]] = {
    "plain": lambda one: f"first line\n{one}\nlast line\n",
    "json": as_json,
    "code": as_code,
    "env": as_env,
    "url": as_url,
    "escaped": as_escaped,
    "prose": as_prose,
}
"""What texts hold secrets in."""
