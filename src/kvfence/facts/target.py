"""What the user named, read by what it is: logs, what launches servers, a running server's URL or its saved answer.

What launches servers is told by its name or its first line; any other file is read as a log. A folder or a pattern
stands for logs; files that are one log, rotated, are read as one.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts import saved_answer
from kvfence.facts.endpoints.base import is_url, parse_base
from kvfence.facts.endpoints.fetch import USUAL, Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from kvfence.facts.launch.read_launch import launch_kind, read_launch
from kvfence.facts.log_files import LogFiles, files_of, is_file, is_folder, rotated, stands_for_many, without_rotation
from kvfence.facts.opened import STDIN, Text, displayed, opened_text
from kvfence.facts.read_log import read_log, read_parts
from kvfence.facts.reading import Reading
from kvfence.facts.scan import Readable

__all__ = ("STDIN", "displayed", "node_name", "read_files", "read_target", "together")


def together(targets: Iterable[str]) -> list[LogFiles]:
    """The targets, those put together that are one log and were rotated; the others as they are."""
    names = list(dict.fromkeys(targets))
    files = [name for name in names if name != STDIN and not is_url(name) and is_file(name)]
    of_part = {part: log for log in rotated(files) for part in log.parts}
    return list(dict.fromkeys(of_part.get(name) or LogFiles(name, (name,)) for name in names))


def read_files(log: LogFiles, access: Access = USUAL) -> Reading:
    """The nodes in what `together` made of the targets: as `read_target`, and as one log where it has several parts."""
    return read_target(log.parts[0], access) if len(log.parts) == 1 else _read_rotated(log, node_name(log.name))


def read_target(target: str, access: Access = USUAL) -> Reading:
    """The nodes in logs or a launch file, in standard input for `-`, or behind the URL of a running server.

    Raises:
        TargetError: it is not there, not readable, empty, or not text; or nothing answers.
        UsageError: it is a URL that cannot be asked.
    """
    if not target:
        raise TargetError("a TARGET is empty; name a log, a URL, or - for standard input (is a variable not set?)")
    if is_url(target):
        return read_endpoint(target, access)
    if target != STDIN and stands_for_many(target):
        return _read_many(target)
    shown = displayed(target)
    with opened_text(target) as text:
        try:
            reading = _read_text(text, target, shown)
        except OSError as error:
            raise TargetError(f"{shown}: reading it failed: {error.strerror or error}") from error
        return replace(reading, gaps=(*reading.gaps, *text.gaps))


def _read_text(text: Text, target: str, shown: str) -> Reading:
    kind = launch_kind(target, text.sample)
    if kind is None:
        return _read_answer_or_log(text, target, shown)
    folder = None if target == STDIN else Path(target).absolute().parent
    return read_launch(text.source, kind, file=shown, folder=folder, name=node_name(target))


def _read_answer_or_log(text: Text, target: str, shown: str) -> Reading:
    source: Readable = text.source
    if text.sample.startswith(b"{"):
        head = source.read(saved_answer.BYTES_MAX)
        saved = saved_answer.saved_nodes(head, file=shown, name=node_name(target))
        if saved:
            return Reading(nodes=saved, gaps=())
        source = saved_answer.Reread(head, source)
    return read_log(source, file=shown, fallback_name=node_name(target))


def _read_many(target: str) -> Reading:
    """The logs that a folder or a pattern stands for; one that cannot be read is a gap, not the end."""
    logs = rotated(files_of(target))
    names = [node_name(log.name) for log in logs]
    shared = {name for name, count in Counter(names).items() if count > 1}
    readings = [
        _read_or_gap(log, _below(target, log.name) if name in shared else name)
        for log, name in zip(logs, names, strict=True)
    ]
    return Reading(
        nodes=tuple(node for reading in readings for node in reading.nodes),
        gaps=tuple(gap for reading in readings for gap in reading.gaps),
    )


def _read_or_gap(log: LogFiles, name: str) -> Reading:
    try:
        reading = _read_rotated(log, name)
    except TargetError as error:
        return Reading(nodes=(), gaps=(str(error),))
    return replace(reading, gaps=tuple(f"{displayed(log.name)}: {gap}" for gap in reading.gaps))


def _read_rotated(log: LogFiles, name: str) -> Reading:
    gaps: list[str] = []
    reading = read_parts(_parts(log, gaps), name)
    return replace(reading, gaps=(*reading.gaps, *gaps))


def _parts(log: LogFiles, gaps: list[str]) -> Iterator[tuple[str, Readable]]:
    for part in log.parts:
        with opened_text(part) as text:
            yield displayed(part), text.source
            gaps.extend(text.gaps)


def _below(target: str, path: str) -> str:
    """A log's path within the folder that was named, as a node's name."""
    inside = Path(os.path.relpath(path, target) if is_folder(target) else path)
    return displayed(str(inside.parent / node_name(path)))


def node_name(target: str) -> str:
    """What a node is called when no line names it: the file's name without its ending."""
    if target == STDIN:
        return "stdin"
    if is_url(target):
        return parse_base(target).name
    name = displayed(without_rotation(Path(target).name))
    return re.sub(r"\.(?:log|txt|json|sh|bash|ya?ml|service)$", "", name) or name
