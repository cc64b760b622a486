r"""What stands around an engine's own line: who collected it and whose it is. What the line says is not looked at.

Known: kubectl's `--prefix` and `--timestamps`, CRI files, docker's json-file, docker compose, journald and syslog in
their short forms, Loki's and Fluentd's text forms, JSON lines of loggers and collectors (`json_entry`), ANSI colours,
CRLF. They stack, so they are taken off from the outside in until none fits. The outermost that names somebody names
the node.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kvfence.facts import json_entry

_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"
_SYSLOG_STAMP = rf"(?:<\d+>)?(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{_STAMP})"
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07)")
_KUBECTL = re.compile(r"\[pod/(?P<short>[^/\]\s]+)/(?P<long>[^\]\s]+)\] ")
_CRI = re.compile(rf"{_STAMP} (?:stdout|stderr) [FP] ")
_JOURNALD = re.compile(rf"{_SYSLOG_STAMP} (?P<short>[\w.-]+) (?P<long>[\w.@/\\+-]+?)(?:\[\d+\])?: ")
_COMPOSE = re.compile(r"(?P<short>[A-Za-z0-9][\w.-]*) +\| ?")
_TIMESTAMP = re.compile(rf"{_STAMP}\s+")
_LOKI = re.compile(r"""\{(?:[\w.-]+="(?:[^"\\]|\\.)*"(?:, ?)?){1,64}\}\s+""")
_LOKI_POD = re.compile(r"""\b(?:pod|pod_name|container|instance|host)="(?P<short>[^"\\]+)\"""")
_FLUENTD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} [\w.*/-]+: (?=\{)")
_LAYERS = (_KUBECTL, _CRI, _JOURNALD, _FLUENTD, _TIMESTAMP, _COMPOSE)
_PARTIAL_JSON = re.compile(rb'"(?:logtag|_p)": ?"P"')
"""Fluent Bit and Fluentd keep a runtime's mark beside the text."""
_DOCKER_PIECE_BYTES = 16 << 10
"""docker's json-file driver cuts a line where its buffer of 16 KiB is full."""
_LAYERS_MAX = 6
_PARTIAL_CRI = re.compile(rf"(?:\[pod/[^\]]+\] )?{_STAMP} (?:stdout|stderr) P ".encode())


@dataclass(frozen=True, slots=True)
class Source:
    """Whose line it is, as the wrapping names it: pod or host or service, and the longer form in case two share it."""

    short: str
    long: str


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The engine's own line, and who printed it if the wrapping says."""

    text: str
    source: Source | None


def is_partial(piece: bytes) -> bool:
    """Whether a container runtime says of this line that the next one continues it."""
    if _PARTIAL_CRI.match(piece) or (piece.startswith(b"{") and _PARTIAL_JSON.search(piece)):
        return True
    # Entries of collectors look like docker's and end without a newline as well; only a full buffer is a piece.
    is_dockers = len(piece) >= _DOCKER_PIECE_BYTES and piece.startswith(b'{"log":"') and piece.endswith(b"}")
    return is_dockers and b'\\n","' not in piece


def unwrap(pieces: tuple[bytes, ...]) -> Unwrapped:
    """The line inside, its pieces put together."""
    first, *rest = (_unwrap_one(piece.decode("utf-8", "replace")) for piece in pieces)
    return Unwrapped("".join((first.text, *(more.text for more in rest))), first.source)


def _unwrap_one(text: str) -> Unwrapped:
    text = _plain(text)
    source: Source | None = None
    for _ in range(_LAYERS_MAX):
        inner = _without_outermost(text)
        if inner is None:
            break
        text, source = inner.text, source or inner.source
    return Unwrapped(text, source)


def _plain(text: str) -> str:
    text = text.rstrip("\r\n")
    return _COLOUR.sub("", text) if "\x1b" in text else text


def _without_outermost(text: str) -> Unwrapped | None:
    if text.startswith("{"):
        entry = json_entry.parse(text)
        if entry:
            return Unwrapped(_plain(entry.message), Source(entry.name, entry.name) if entry.name else None)
        return _from_loki(text)
    for layer in _LAYERS:
        if match := layer.match(text):
            names = match.groupdict()
            short, long = names.get("short"), names.get("long")
            source = Source(short, f"{short}/{long}" if long else short) if short else None
            return Unwrapped(text[match.end() :], source)
    return None


def _from_loki(text: str) -> Unwrapped | None:
    """`logcli` prints the labels of a line before it."""
    match = _LOKI.match(text)
    if not match:
        return None
    pod = _LOKI_POD.search(match[0])
    return Unwrapped(text[match.end() :], Source(pod["short"], pod["short"]) if pod else None)
