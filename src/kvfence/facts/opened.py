"""What the user named, opened and looked at: text to be read from its beginning, unpacked where it is packed.

What cannot be read as text is one clear line that says what to do.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kvfence.errors import TargetError
from kvfence.facts.packed import Inside, unpacked

STDIN = "-"
_SAMPLE_BYTES = 65_536
_ADDRESS = re.compile(r"[\w.\-]+:\d{2,5}(?:/v1)?")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1b\x08\x07"))
_CONTROL_SHARE_MAX = 0.05
"""Progress bars, bells and colours are text; an image or an executable has over a tenth of these."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text at its beginning."""

    source: io.BufferedReader
    sample: bytes
    """What it begins with; not yet taken."""
    inside: Inside | None
    """Where it is packed: what tells after the reading whether all of it could be unpacked."""

    @property
    def gaps(self) -> tuple[str, ...]:
        """What could not be read in it, as far as it was read."""
        return (self.inside.gap,) if self.inside and self.inside.gap else ()


@contextmanager
def opened_text(target: str) -> Iterator[Text]:
    """A file, or standard input for `-`, as text.

    Raises:
        TargetError: it is not there, not readable, empty, not text, or packed in a way that cannot be unpacked here.
    """
    shown = displayed(target)
    with _opened(target) as packed:
        try:
            source, inside = unpacked(packed, shown)
            sample = source.peek(_SAMPLE_BYTES)[:_SAMPLE_BYTES]
        except OSError as error:
            raise TargetError(f"{shown}: reading it failed: {error.strerror or error}") from error
        if inside and inside.gap and not sample:
            raise TargetError(f"{shown}: {inside.gap.partition(';')[0]}, and nothing in it could be read")
        _require_text(sample, shown)
        yield Text(source, sample, inside)


def displayed(target: str) -> str:
    """A path as it can be printed anywhere: bytes that are no text and control characters replaced."""
    text = target.encode("utf-8", "replace").decode("utf-8")
    return "".join(char if char.isprintable() else "?" for char in text)


@contextmanager
def _opened(target: str) -> Iterator[io.BufferedReader]:
    if target == STDIN:
        if not isinstance(sys.stdin.buffer, io.BufferedReader):
            raise TargetError("-: standard input is not a stream of bytes; name a log file")
        yield sys.stdin.buffer
        return
    try:
        source: io.BufferedReader = io.BufferedReader(io.FileIO(target), _SAMPLE_BYTES)
    except IsADirectoryError as error:
        raise TargetError(f"{target}: this is a directory; name the files in it") from error
    except FileNotFoundError as error:
        raise TargetError(f"{target}: no such file; check the path, {_or_else(target)}") from error
    except PermissionError as error:
        raise TargetError(f"{target}: permission denied; run as a user who may read it") from error
    except (OSError, ValueError) as error:
        raise TargetError(f"{target}: cannot be opened: {error}") from error
    with source:
        yield source


def _or_else(target: str) -> str:
    """What somebody may have meant who named no file."""
    return (
        f"or write a server's address as http://{target}"
        if _ADDRESS.fullmatch(target)
        else "or use - for standard input"
    )


def _require_text(sample: bytes, target: str) -> None:
    if not sample:
        raise TargetError(f"{target}: empty, so there is nothing to audit; give the engine's log from its start on")
    if sample.startswith(_UTF16):
        raise TargetError(f"{target}: UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 {target} | kvfence audit -")
    # A log rotated by copy and truncate begins with a hole, which reads as NULs.
    text = sample.lstrip(b"\0")
    controls = len(text) - len(text.translate(None, _CONTROL))
    if not text or controls > len(text) * _CONTROL_SHARE_MAX:
        raise TargetError(f"{target}: binary, not a log; name the text that the engine printed")
