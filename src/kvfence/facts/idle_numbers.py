"""Numbers behind what a line says, which differ in every line and say nothing: rooms, digests, ports, counts.

A number is a word of the digits 0-9 and a-f with a decimal digit in it, `0x` before it or not. A pattern may leave it
open where no other number in its place can make the line another message. Each message has a stem. So the line is
looked at with a sign for each open number, which may stand for any of them, and must have the one stem that it has, in
that form too. `test_idle_numbers` puts every stem behind every event and looks for one that slips through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_NUMBER = re.compile(rb"(?<![A-Za-z0-9_])(0x)?(?=[a-f]*[0-9])[0-9a-f]{1,40}(?![A-Za-z0-9_])")
_ANY = rb"[0-9a-f]{1,40}"
_SIGN = "\0"
_RUN = re.compile(r"[0-9a-f]+")
_NUMBERS_MAX = 16
"""Of one line. Each may be 40 characters longer in another line, which keeps that far below what a runtime cuts."""


def open_numbers(tail: bytes) -> bytes:
    """A pattern for these bytes in which every number may be another one."""
    parts, at = [], 0
    for number in _NUMBER.finditer(tail):
        parts += [re.escape(tail[at : number.end(1) if number[1] else number.start()]), _ANY]
        at = number.end()
    return b"".join((*parts, re.escape(tail[at:])))


def says_the_same(text: str, at: int, stems: Sequence[bytes]) -> bool:
    """Whether a line is the same message whatever its numbers behind `at` are."""
    head, tail = text[:at], text[at:].encode()
    signed, count = _NUMBER.subn(lambda number: (number[1] or b"") + _SIGN.encode(), tail)
    if not stems or not 0 < count <= _NUMBERS_MAX or _SIGN in text:
        return False
    known = [stem for stem in stems if stem.decode() in text]
    may = [stem for stem in stems if _anyhow(stem).search(head + signed.decode())]
    return len(known) == 1 and may == known


@lru_cache(maxsize=256)
def _anyhow(stem: bytes) -> re.Pattern[str]:
    """A stem of which a part may stand within an open number, at its ends or whole."""
    text, parts, at = stem.decode(), [], 0
    for run in _RUN.finditer(text):
        parts += [re.escape(text[at : run.start()]), rf"(?:{run[0]}|[0-9a-f]*{_SIGN}[0-9a-f]*)"]
        at = run.end()
    return re.compile("".join((*parts, re.escape(text[at:]))))
