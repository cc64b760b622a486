"""A folder or a pattern: every log, launch file and saved answer in it, and what of it was not read or says nothing.

A file that cannot be read is a gap and not the end. A log of which nothing is known leaves something open; a launch
file that starts no engine and a file of another kind do not, and are counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts.files_together import read_together
from kvfence.facts.launch.read_launch import launched_by_name
from kvfence.facts.launch.read_manifest import NO_SERVER
from kvfence.facts.log_files import FilesOf, LogFiles, files_of, is_folder, rotated
from kvfence.facts.node_name import node_name
from kvfence.facts.one_file import read_file
from kvfence.facts.opened import displayed, opened_text
from kvfence.facts.read_log import read_parts
from kvfence.facts.reading import Reading
from kvfence.facts.scan import Readable

_NAMED_MAX = 5


def read_many(target: str) -> Reading:
    """What the files that a folder or a pattern stands for say.

    Raises:
        TargetError: there are none, or too many.
    """
    files = files_of(target)
    logs = rotated(files.read)
    names = _names(target, logs)
    together = read_together([(log.parts[0], name) for log, name in zip(logs, names, strict=True)])
    readings = [_read_or_gap(log, name, together) for log, name in zip(logs, names, strict=True)]
    silent = [
        log
        for log, reading in zip(logs, readings, strict=True)
        if not any((reading.nodes, reading.gaps, reading.notes))
    ]
    plans = [_inside(target, log.name) for log in silent if launched_by_name(log.name)]
    others = [_inside(target, log.name) for log in silent if not launched_by_name(log.name)]
    return Reading(
        nodes=tuple(node for reading in readings for node in reading.nodes),
        gaps=(*(gap for reading in readings for gap in reading.gaps), *_unrecognised(others)),
        notes=(*(note for reading in readings for note in reading.notes), *_passed_over(plans, files)),
    )


def read_parts_of(log: LogFiles, name: str) -> Reading:
    """A log that was rotated, as one; `name` is that of a node which no line names."""
    gaps: list[str] = []
    reading = read_parts(_parts(log, gaps), name)
    return replace(reading, gaps=(*reading.gaps, *gaps))


def _parts(log: LogFiles, gaps: list[str]) -> Iterator[tuple[str, Readable]]:
    for part in log.parts:
        with opened_text(part) as text:
            yield displayed(part), text.source
            gaps.extend(text.gaps)


def _read_or_gap(log: LogFiles, name: str, together: Mapping[str, Reading]) -> Reading:
    try:
        reading = together.get(log.parts[0]) or (
            read_file(log.parts[0], name) if len(log.parts) == 1 else read_parts_of(log, name)
        )
    except TargetError as error:
        return Reading(nodes=(), gaps=(str(error),))
    shown = displayed(log.name)
    return replace(
        reading,
        gaps=tuple(f"{shown}: {gap}" for gap in reading.gaps if gap != NO_SERVER),
        notes=tuple(f"{shown}: {note}" for note in reading.notes),
    )


def _names(target: str, logs: Sequence[LogFiles]) -> list[str]:
    """Where two logs or two launch files would be called alike, by their place; a log and its launch file may be.

    Where even that is one name, `p.log` and `p.json`, by the whole of it: `p#1` would not say which of them is meant.
    """
    files = [(launched_by_name(log.name), log.name) for log in logs]
    names = [node_name(path) for _launched, path in files]
    for longer in (_below, _inside):
        count = Counter((kind, name) for (kind, _path), name in zip(files, names, strict=True))
        names = [
            longer(target, path) if count[kind, name] > 1 else name
            for (kind, path), name in zip(files, names, strict=True)
        ]
    return names


def _below(target: str, path: str) -> str:
    """A file's path within the folder that was named, as a node's name."""
    inside = Path(_inside(target, path))
    return displayed(str(inside.parent / node_name(path)))


def _inside(target: str, path: str) -> str:
    return displayed(os.path.relpath(path, target) if is_folder(target) else path)


def _unrecognised(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"nothing of SGLang, vLLM or kvfence's cell was recognised in {_counted(len(names), names)}"


def _passed_over(plans: Sequence[str], files: FilesOf) -> Iterator[str]:
    if plans:
        yield f"no command that starts SGLang or vLLM stands in {_counted(len(plans), plans)}"
    if files.left_count:
        names = [displayed(name) for name in files.left_first]
        yield f"named neither like a log nor like a launch file, so not read: {_counted(files.left_count, names)}"


def _counted(count: int, names: Sequence[str]) -> str:
    more = ", …" if count > _NAMED_MAX else ""
    return f"{count:,} file{'s' if count > 1 else ''} ({', '.join(names[:_NAMED_MAX])}{more})"
