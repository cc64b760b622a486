"""What the user named, opened: a file, `-`, or a URL. What cannot be read as a log is one clear line, never a reading.

What launches servers is told by its name or its first line; any other file is read as a log. Room is left for source
trees; today they are refused by what they are.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from kvfence.errors import TargetError
from kvfence.facts.endpoints.base import is_url, parse_base
from kvfence.facts.endpoints.fetch import USUAL, Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from kvfence.facts.launch.read_launch import launch_kind, read_launch
from kvfence.facts.read_log import read_log
from kvfence.facts.reading import Reading
from kvfence.facts.scan import Readable

STDIN = "-"
_SAMPLE_BYTES = 65_536
_GZIP, _ZSTD, _XZ, _BZIP2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"
_PACKED = {_GZIP: "zcat", _ZSTD: "zstdcat", _XZ: "xzcat", _BZIP2: "bzcat"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1b\x08\x07"))
_CONTROL_SHARE_MAX = 0.05
"""Progress bars, bells and colours are text; an image or an executable has over a tenth of these."""


def read_target(target: str, access: Access = USUAL) -> Reading:
    """The nodes in a log or a launch file, in standard input for `-`, or behind the URL of a running server.

    Raises:
        TargetError: it is not there, not readable, empty, or not text; or nothing answers.
        UsageError: it is a URL that cannot be asked.
    """
    if not target:
        raise TargetError("a TARGET is empty; name a log, a URL, or - for standard input (is a variable not set?)")
    if is_url(target):
        return read_endpoint(target, access)
    shown = displayed(target)
    with _opened(target) as source:
        sample = source.peek(_SAMPLE_BYTES)[:_SAMPLE_BYTES]
        _require_text(sample, shown)
        kind = launch_kind(target, sample)
        try:
            if kind is not None:
                folder = None if target == STDIN else Path(target).absolute().parent
                return read_launch(source, kind, file=shown, folder=folder, name=node_name(target))
            return read_log(source, file=shown, fallback_name=node_name(target))
        except OSError as error:
            raise TargetError(f"{shown}: reading it failed: {error.strerror or error}") from error


def node_name(target: str) -> str:
    """What a node is called when no line names it: the file's name without its ending."""
    if target == STDIN:
        return "stdin"
    if is_url(target):
        return parse_base(target).name
    name = displayed(Path(target).name)
    return re.sub(r"\.(?:log|txt|sh|bash|ya?ml|service)$", "", name) or name


class _Peekable(Readable, Protocol):
    """Bytes whose beginning can be looked at first."""

    def peek(self, size: int, /) -> bytes:
        """What comes next, without taking it."""


def displayed(target: str) -> str:
    """A path as it can be printed anywhere: bytes that are no text and control characters replaced."""
    text = target.encode("utf-8", "replace").decode("utf-8")
    return "".join(char if char.isprintable() else "?" for char in text)


@contextmanager
def _opened(target: str) -> Iterator[_Peekable]:
    if target == STDIN:
        if not isinstance(sys.stdin.buffer, io.BufferedReader):
            raise TargetError("-: standard input is not a stream of bytes; name a log file")
        yield sys.stdin.buffer
        return
    try:
        source = io.BufferedReader(io.FileIO(target), _SAMPLE_BYTES)
    except IsADirectoryError as error:
        raise TargetError(f"{target}: this is a directory; name the log files in it") from error
    except FileNotFoundError as error:
        raise TargetError(f"{target}: no such file; check the path, or use - for standard input") from error
    except PermissionError as error:
        raise TargetError(f"{target}: permission denied; run as a user who may read it") from error
    except (OSError, ValueError) as error:
        raise TargetError(f"{target}: cannot be opened: {error}") from error
    with source:
        yield source


def _require_text(sample: bytes, target: str) -> None:
    if not sample:
        raise TargetError(f"{target}: empty, so there is nothing to audit; give the engine's log from its start on")
    for magic, tool in _PACKED.items():
        if sample.startswith(magic):
            raise TargetError(f"{target}: compressed; unpack it on the way: {tool} {target} | kvfence audit -")
    if sample.startswith(_UTF16):
        raise TargetError(f"{target}: UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 {target} | kvfence audit -")
    # A log rotated by copy and truncate begins with a hole, which reads as NULs.
    text = sample.lstrip(b"\0")
    controls = len(text) - len(text.translate(None, _CONTROL))
    if not text or controls > len(text) * _CONTROL_SHARE_MAX:
        raise TargetError(f"{target}: binary, not a log; name the text that the engine printed")
