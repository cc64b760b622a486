"""What the user named, as the sources that it stands for: files, folders, globs, addresses; in an order that stays."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kvfence.errors import TargetError, UsageError
from kvfence.facts.opened import displayed
from kvfence.scan.formats.batch import joined
from kvfence.scan.formats.mapped import MAPPED
from kvfence.scan.mapping import FieldMapping
from kvfence.scan.reading.addresses import is_address
from kvfence.scan.reading.looking import looked_at
from kvfence.scan.reading.source import Source


def sources_of(
    targets: Sequence[str], *, asked: str | None = None, mapping: FieldMapping | None = None
) -> tuple[Source, ...]:
    """Each file once, those of a folder or a glob by their names.

    `asked`: the format that they have, if it is said; `mapping`: of one that the user described.

    Raises:
        TargetError: one of them stands for nothing.
        UsageError: one of them is standard input, which cannot be read twice; or a mapping is asked for and not given.
    """
    asked = MAPPED.name if mapping else asked
    if asked == MAPPED.name and mapping is None:
        raise UsageError("--input-format mapping: give --mapping FILE.toml, which says what is where in a record")
    seen: dict[str, str] = {}
    for target in targets:
        for found in _files(target):
            seen.setdefault(found if is_address(found) else os.path.realpath(found), found)
    sources = [looked_at(number, found, asked) for number, found in enumerate(seen.values())]
    return joined([replace(source, mapping=mapping) for source in sources])


def _files(target: str) -> Iterator[str]:
    if target == "-":
        raise UsageError("-: a scan reads its input twice, so standard input cannot be scanned; name a file")
    if is_address(target):
        yield target
        return
    if Path(target).is_dir():
        found = list(_in_folder(target))
    elif Path(target).exists():
        found = [target]
    else:
        found = [at for path in sorted(glob.glob(target, recursive=True)) for at in _in(path)]  # noqa: PTH207 — a pattern may be absolute
    if not found:
        raise TargetError(f"{displayed(target)}: no such file, and nothing that it stands for; check the path")
    yield from found


def _in(path: str) -> Iterator[str]:
    if Path(path).is_dir():
        yield from _in_folder(path)
    else:
        yield path


def _in_folder(folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(at, name) for name in sorted(names) if not name.startswith("."))  # noqa: PTH118 — names may be any bytes
