"""What the user named, read by what it is: logs, what launches servers, a running server's URL or its saved answer.

A folder or a pattern stands for its logs and launch files; files that are one log, rotated, are read as one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from kvfence.errors import TargetError
from kvfence.facts.endpoints.base import is_url
from kvfence.facts.endpoints.fetch import USUAL, Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from kvfence.facts.files_together import read_together, starts_nothing
from kvfence.facts.log_files import LogFiles, files_of, is_file, rotated, stands_for_many
from kvfence.facts.many_files import read_many, read_parts_of
from kvfence.facts.node_name import node_name
from kvfence.facts.one_file import read_file
from kvfence.facts.opened import STDIN, displayed
from kvfence.facts.reading import Reading

__all__ = ("STDIN", "displayed", "node_name", "read_files", "read_target", "together")


def together(targets: Iterable[str]) -> list[LogFiles]:
    """The targets, those put together that are one log and were rotated; the others as they are."""
    names = list(_once(dict.fromkeys(targets)))
    files = [name for name in names if name != STDIN and not is_url(name) and is_file(name)]
    of_part = {part: log for log in rotated(files) for part in log.parts}
    return list(dict.fromkeys(of_part.get(name) or LogFiles(name, (name,)) for name in names))


def _once(targets: Iterable[str]) -> Iterator[str]:
    """The targets without the files that another one stands for already, however it is spelt: by its folder or a link.

    Read twice, a worker would be two, and each of its findings too.
    """
    names = list(targets)
    many = [name for name in names if _is_path(name) and stands_for_many(name)]
    seen = {os.path.realpath(path) for name in many for path in _read_of(name)}
    for name in names:
        if not _is_path(name) or not is_file(name):
            yield name
        elif (where := os.path.realpath(name)) not in seen:
            seen.add(where)
            yield name


def _is_path(name: str) -> bool:
    return bool(name) and name != STDIN and not is_url(name)


def _read_of(folder: str) -> tuple[str, ...]:
    try:
        return files_of(folder).read
    except TargetError:  # told when the folder itself is read
        return ()


def read_files(logs: Sequence[LogFiles], access: Access = USUAL) -> list[tuple[str, Reading]]:
    """What `together` made of the targets, read: each as `read_target`, rotated parts as one, manifests together.

    By name. A manifest that starts nothing and stands beside one that does is part of what is said of that one.
    """
    files = [log.name for log in logs if len(log.parts) == 1 and log.name != STDIN and is_file(log.name)]
    manifests = read_together([(name, node_name(name)) for name in files])
    starts_some = any(reading.nodes for reading in manifests.values())
    beside = {name for name, reading in manifests.items() if starts_some and starts_nothing(reading)}
    return [(log.name, manifests.get(log.name) or _read_one(log, access)) for log in logs if log.name not in beside]


def _read_one(log: LogFiles, access: Access) -> Reading:
    return read_target(log.parts[0], access) if len(log.parts) == 1 else read_parts_of(log, node_name(log.name))


def read_target(target: str, access: Access = USUAL) -> Reading:
    """The nodes in logs or launch files, in standard input for `-`, or behind the URL of a running server.

    Raises:
        TargetError: it is not there, not readable, empty, or not text; or nothing answers.
        UsageError: it is a URL that cannot be asked.
    """
    if not target:
        raise TargetError("a TARGET is empty; name a log, a URL, or - for standard input (is a variable not set?)")
    if is_url(target):
        return read_endpoint(target, access)
    if target != STDIN and stands_for_many(target):
        return read_many(target)
    return read_file(target, node_name(target))
