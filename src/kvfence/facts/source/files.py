"""Files of a tree, in a folder or a wheel, read within limits. What cannot be read is a clause, never an exception.

Names are POSIX paths from the root. Links to folders are not followed, so a loop of links ends.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FILE_BYTES_MAX = 4_194_304
"""The largest file of either engine has under 1 MiB."""
FILES_MAX = 20_000
"""A whole engine has under 5,000 Python files."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file gave nothing: a clause that ends a sentence about it."""

    why: str


class Files(Protocol):
    """A tree of files."""

    @property
    def shown(self) -> str:
        """The root as it can be printed."""

    def python_files(self, folder: str) -> Iterator[str]:
        """Every Python file below a folder, or the file itself if it is one; nothing if it is not there."""

    def read(self, name: str) -> bytes | Unreadable:
        """The whole file, or why not."""

    def names_in(self, folder: str) -> list[str]:
        """What a folder holds, by name, sorted; nothing if it cannot be listed."""


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """A folder on disk."""

    root: Path
    shown: str

    def python_files(self, folder: str) -> Iterator[str]:
        """Depth first, sorted, without following links to folders."""
        if folder.endswith(".py"):
            if (self.root / folder).is_file():
                yield folder
            return
        left = FILES_MAX
        for at, folders, files in os.walk(self.root / folder):
            folders.sort()
            for name in sorted(files):
                left -= 1
                if left < 0:
                    return
                if name.endswith(".py"):
                    yield (Path(at) / name).relative_to(self.root).as_posix()

    def read(self, name: str) -> bytes | Unreadable:
        """Only a regular file of a size that source code has: never a pipe, never a device."""
        path = self.root / name
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                return Unreadable("is not a regular file")
            if status.st_size > FILE_BYTES_MAX:
                return Unreadable(f"has {status.st_size:,} bytes, too many for source code")
            with path.open("rb") as file:
                return file.read(FILE_BYTES_MAX)
        except (OSError, ValueError) as error:
            return Unreadable(f"cannot be read ({getattr(error, 'strerror', None) or type(error).__name__})")

    def names_in(self, folder: str) -> list[str]:
        """What a folder holds."""
        try:
            return sorted(path.name for path in (self.root / folder).iterdir())
        except (OSError, ValueError):
            return []


@dataclass(frozen=True, slots=True)
class WheelFiles:
    """A wheel, or another zip, read without unpacking it."""

    archive: zipfile.ZipFile
    root: str
    """A folder in it that ends with a slash, or nothing."""
    shown: str

    def python_files(self, folder: str) -> Iterator[str]:
        """In the order of the archive's sorted names."""
        wanted = self.root + folder
        inside = [name for name in self.archive.namelist() if name == wanted or name.startswith(wanted + "/")]
        for name in sorted(set(inside))[:FILES_MAX]:
            if name.endswith(".py"):
                yield name.removeprefix(self.root)

    def read(self, name: str) -> bytes | Unreadable:
        """A member of a size that source code has, whatever the archive says of its size."""
        try:
            with self.archive.open(self.root + name) as member:
                content = member.read(FILE_BYTES_MAX + 1)
        except KeyError:
            return Unreadable("is not there")
        except (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            return Unreadable(f"cannot be read from the archive ({type(error).__name__})")
        if len(content) > FILE_BYTES_MAX:
            return Unreadable(f"has more than {FILE_BYTES_MAX:,} bytes, too many for source code")
        return content

    def names_in(self, folder: str) -> list[str]:
        """What a folder of the archive holds."""
        at = self.root + (folder + "/" if folder else "")
        return sorted({name[len(at) :].split("/")[0] for name in self.archive.namelist() if name.startswith(at)} - {""})
