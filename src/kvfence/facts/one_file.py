"""One file, or standard input, read by what it is: what launches servers, a server's saved answer, or a log.

What launches servers is told by its name or its first line; any other file is read as a log.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts import saved_answer
from kvfence.facts.launch.read_launch import launch_kind, read_launch
from kvfence.facts.opened import STDIN, Text, displayed, opened_text
from kvfence.facts.read_log import read_log
from kvfence.facts.reading import Reading
from kvfence.facts.scan import Readable


def read_file(target: str, name: str) -> Reading:
    """The nodes in it; `name` is that of a node which no line names.

    Raises:
        TargetError: it is not there, not readable, empty, or not text.
    """
    shown = displayed(target)
    with opened_text(target) as text:
        try:
            reading = _read_text(text, target, shown, name)
        except OSError as error:
            raise TargetError(f"{shown}: reading it failed: {error.strerror or error}") from error
        return replace(reading, gaps=(*reading.gaps, *text.gaps))


def _read_text(text: Text, target: str, shown: str, name: str) -> Reading:
    kind = launch_kind(target, text.sample)
    if kind is None:
        return _read_answer_or_log(text, shown, name)
    folder = None if target == STDIN else Path(target).absolute().parent
    return read_launch(text.source, kind, file=shown, folder=folder, name=name)


def _read_answer_or_log(text: Text, shown: str, name: str) -> Reading:
    source: Readable = text.source
    if text.sample.startswith(b"{"):
        head = source.read(saved_answer.BYTES_MAX)
        saved = saved_answer.saved_nodes(head, file=shown, name=name)
        if saved:
            return Reading(nodes=saved, gaps=())
        source = saved_answer.Reread(head, source)
    return read_log(source, file=shown, fallback_name=name)
