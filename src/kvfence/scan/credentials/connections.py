"""Connection strings with a password: the password is what is found, the account and the place name it."""

from __future__ import annotations

import re

from kvfence.scan.credentials.placeholders import is_placeholder
from kvfence.scan.credentials.rule import Rule

_SCHEMES = (
    rb"https?|wss?|postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|oracle|cockroachdb|clickhouse|snowflake|mongodb|rediss?"
    rb"|valkeys?|memcached|amqps?|nats|kafka|mqtts?|ldaps?|smtps?|imaps?|ftps?|sftp|ssh|git|cloudinary|neo4j|bolt|influxdb"
)


def _has_password(match: re.Match[bytes]) -> bool:
    return not is_placeholder(match["secret"]) and match["secret"] != match["user"]


def _has_lone_password(match: re.Match[bytes]) -> bool:
    return not is_placeholder(match["secret"])


def _account(match: re.Match[bytes]) -> bytes:
    return b"%b:%b@%b" % (match["user"], match["secret"], match["host"].lower())


CONNECTIONS = (
    Rule(
        kind="connection-string",
        pattern=rb"(?i)\b(?:" + _SCHEMES + rb")(?:\+[a-z0-9]{1,16})?(?::|%3A)(?://|\\/\\/|%2F%2F)"
        rb"(?P<user>[^\s:/@\"'`<>\\]{0,128}):(?P<secret>[^\s/@\"'`<>\\]{3,256})@(?P<host>[a-z0-9\[][a-z0-9._\-:\]]{0,252})",
        is_one=_has_password,
        named=_account,
        said="password in a connection string",
    ),
    Rule(
        kind="connection-string",
        pattern=rb"(?i)\bjdbc:[a-z0-9]{2,20}:[^\s\"'`<>]{1,300}[?;&](?:password|pwd)=(?P<secret>[^\s\"'`<>&;\\]{3,256})",
        is_one=_has_lone_password,
        said="password in a connection string",
    ),
    Rule(
        kind="connection-string",
        pattern=rb"(?i)\b(?:server|data source|host|address)=[^;\r\n]{1,200};(?:[^;\r\n]{1,200};){0,8}\s?"
        rb"(?:password|pwd)=(?P<secret>[^\s\"'`<>;\\]{3,256})",
        is_one=_has_lone_password,
        said="password in a connection string",
    ),
)
