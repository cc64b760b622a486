"""Where in a target an engine's package is: an environment, site-packages, a checkout, the package itself, a wheel."""

from __future__ import annotations

import os
import zipfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts.source.files import Files, FolderFiles, WheelFiles
from kvfence.facts.target import displayed

FOLDERS_MAX = 20_000
DEPTH_MAX = 7
ENGINES_MAX = 5
"""One more than is read, so that it can be told that there are more."""
MARKS = {"sglang": "srt", "vllm": "distributed"}
"""An engine's package, and a folder in it that nobody else's package of that name has."""


@dataclass(frozen=True, slots=True)
class EnginePackage:
    """An engine's package: its name, its files, and what else lies beside it."""

    engine: str
    files: Files
    beside: tuple[str, ...]
    """Names beside the package; one of them may be its dist-info."""


def find_engines(target: str) -> list[EnginePackage]:
    """Every engine in a folder or a wheel, in no more than a few thousand steps.

    Raises:
        TargetError: there is no such thing, it cannot be opened, or it is no folder and no wheel.
    """
    shown = displayed(target)
    path = Path(target)
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.is_file():
            raise TargetError(f"{shown}: no such folder or wheel; check the path")
        if is_folder:
            os.scandir(path).close()
            return list(islice(_in_folder(path, shown), ENGINES_MAX))
        return list(_in_wheel(path, shown))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise TargetError(f"{shown}: cannot be opened: {why}") from error


def _in_folder(root: Path, shown: str) -> Iterator[EnginePackage]:
    seen: set[Path] = set()
    for folder in _folders(root):
        engine = folder.name if folder != root else root.resolve().name
        mark = MARKS.get(engine)
        if mark is None or not (folder / mark).is_dir() or folder.resolve() in seen:
            continue
        seen.add(folder.resolve())
        inside = folder.relative_to(root).as_posix()
        files = FolderFiles(folder, shown if inside == "." else f"{shown}/{displayed(inside)}")
        yield EnginePackage(engine, files, tuple(FolderFiles(folder.parent, "").names_in("")))


def _folders(root: Path) -> Iterator[Path]:
    """Folders, nearest first; links to folders only where they bear an engine's name."""
    waiting = deque([(root, 0)])
    left = FOLDERS_MAX
    while waiting and left:
        folder, depth = waiting.popleft()
        left -= 1
        yield folder
        if depth >= DEPTH_MAX or folder.name in MARKS:
            continue
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if _is_folder(entry):
                waiting.append((folder / entry.name, depth + 1))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=entry.name in MARKS)
    except OSError:
        return False


def _in_wheel(path: Path, shown: str) -> Iterator[EnginePackage]:
    try:
        archive = zipfile.ZipFile(path)
        names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise TargetError(
            f"{shown}: neither a folder nor a wheel; name site-packages, an environment, a checkout or a .whl file"
        ) from error
    for engine, mark in MARKS.items():
        roots = {name.split(f"{engine}/{mark}/")[0] for name in names if f"/{engine}/{mark}/" in f"/{name}"}
        for root in sorted(roots, key=len)[:1]:
            beside = tuple(sorted({name[len(root) :].split("/")[0] for name in names if name.startswith(root)}))
            yield EnginePackage(engine, WheelFiles(archive, f"{root}{engine}/", f"{shown}/{root}{engine}"), beside)
