"""Which files a folder or a pattern stands for, and which of them are one log that was rotated. No file is opened here.

A folder stands for the files in it and below it that are named like logs or like what launches servers, the latter not
in hidden folders; what is neither is counted. A pattern stands for the files that it matches. Of
`prefill.log`, `prefill.log.1` and `prefill.log.2.gz` the highest number is the oldest; of `prefill.log-20261201` and
`prefill-20261201.log` the earliest date; the one without either is the newest. Together they are one log. `worker.0`
and `worker.1` are two: what has no ending of a log before its number is numbered for another reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts.launch.read_launch import launched_by_name

FILES_MAX = 10_000
"""More is no deployment's logs but a machine's."""
_PACKED = r"(?:\.(?:gz|zst|xz|bz2))?"
_DATE = r"\d{4}-?\d\d-?\d\d(?:[T_-]?\d\d[:-]?\d\d(?:[:-]?\d\d)?)?"
_ENDING = r"\.(?:log|txt|out|err|json|jsonl)"
_NUMBERED = re.compile(rf"^(?P<base>.+?{_ENDING})\.(?P<number>\d{{1,4}}){_PACKED}$")
_DATED = re.compile(rf"^(?P<base>.+?)[-._](?P<date>{_DATE})(?P<ending>{_ENDING})?{_PACKED}$")
_PLAIN = re.compile(rf"^(?P<base>.+?){_PACKED}$")
_LEFT_MAX = 8
"""Of those that are not read, to be named."""
_LIKE_A_LOG = re.compile(rf"^[^.].*{_ENDING}(?:\.\d{{1,4}}|[-._]{_DATE})?{_PACKED}$")


@dataclass(frozen=True, slots=True)
class LogFiles:
    """One log: its name, and its files from the oldest to the newest."""

    name: str
    """The path of the newest, without what rotating put behind it."""
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesOf:
    """What a folder or a pattern stands for."""

    read: tuple[str, ...]
    """The paths to read, sorted."""
    left_count: int = 0
    """Other files of the folder, hidden ones not counted."""
    left_first: tuple[str, ...] = ()
    """Some of them, by their path in the folder."""


@dataclass(frozen=True, slots=True, order=True)
class _Age:
    """Sorts from the oldest to the newest."""

    undated: bool
    date: str
    number_down: float


def is_file(path: str) -> bool:
    """Whether a file is there, as far as one can see; Path's own raises where a folder above may not be looked into."""
    return os.path.isfile(path)  # noqa: PTH113 — see above


def is_folder(path: str) -> bool:
    """The same of a folder."""
    return os.path.isdir(path)  # noqa: PTH112 — see above


def stands_for_many(target: str) -> bool:
    """Whether it is a folder or a pattern; a file of that very name is a file."""
    return is_folder(target) or (has_magic(target) and not os.path.lexists(target))


def files_of(target: str) -> FilesOf:
    """The files of a folder that are named like logs or launch files, or those that match a pattern.

    Raises:
        TargetError: there are none, or too many.
    """
    whole = is_folder(target)
    files: list[str] = []
    left: list[str] = []
    left_count = 0
    for path, wanted in _below(target) if whole else _matching(target):
        if wanted:
            files.append(path)
        else:
            left_count += 1
            left += [os.path.relpath(path, target)] if len(left) < _LEFT_MAX else []
        if len(files) > FILES_MAX:
            raise TargetError(f"{target}: more than {FILES_MAX:,} files; name those of one deployment")
    if not files:
        what = "no file in this folder is named like a log or a launch file; name its files"
        raise TargetError(f"{target}: {what if whole else 'no file matches'}")
    return FilesOf(tuple(sorted(files)), left_count, tuple(left))


def rotated(paths: Iterable[str]) -> list[LogFiles]:
    """The logs that these files are, in the order in which their first files are named."""
    parts: dict[tuple[str, str], list[tuple[_Age, str]]] = {}
    for path in paths:
        folder, name = os.path.split(path)
        base, age = _told(name)
        parts.setdefault((folder, base), []).append((age, path))
    return [
        LogFiles(str(Path(folder, base)) if len(aged) > 1 else aged[0][1], tuple(part for _age, part in sorted(aged)))
        for (folder, base), aged in parts.items()
    ]


def without_rotation(name: str) -> str:
    """A file's name without what rotating and packing put into it."""
    return _told(name)[0]


def _told(name: str) -> tuple[str, _Age]:
    if match := _NUMBERED.match(name):
        return match["base"], _Age(undated=False, date="", number_down=-int(match["number"]))
    if match := _DATED.match(name):
        digits = re.sub(r"\D", "", match["date"])
        return match["base"] + (match["ending"] or ""), _Age(undated=False, date=digits, number_down=0)
    match = _PLAIN.match(name)
    return (match["base"] if match else name), _Age(undated=True, date="", number_down=0)


def _below(folder: str) -> Iterator[tuple[str, bool]]:
    """The files with whether they are to be read, hidden ones left out; what is no plain file never is."""
    for here, folders, names in os.walk(folder):
        folders.sort()
        hidden = any(part.startswith(".") for part in Path(os.path.relpath(here, folder)).parts)
        for name in sorted(names):
            path = str(Path(here, name))
            if _LIKE_A_LOG.match(name):
                yield path, is_file(path)
            elif not hidden and not name.startswith("."):
                yield path, launched_by_name(name) and is_file(path)


def _matching(pattern: str) -> Iterator[tuple[str, bool]]:
    # Not Path.glob: that begins in a folder, and what was named may begin anywhere.
    return ((path, True) for path in glob(pattern, recursive=True) if is_file(path))  # noqa: PTH207 — see above
