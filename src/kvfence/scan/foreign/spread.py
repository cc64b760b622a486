"""Rows spread over files by a number, so that each file is small enough to be sorted in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

FILES = 64


class Spread:
    """Takes rows of one type as they come, and gives them back file by file, each in the order in which they came."""

    def __init__(self, folder: Path, name: str, of: np.dtype[np.void]) -> None:
        self._of = of
        self._paths = [folder / f"{name}.{number:02d}" for number in range(FILES)]
        for path in self._paths:
            private(path)

    def add(self, rows: npt.NDArray[np.void], file_of_each: npt.NDArray[np.integer]) -> None:
        """Put each row into its file.

        Raises:
            OSError: the disk is full, or gone.
        """
        order = np.argsort(file_of_each, kind="stable")
        ends = np.searchsorted(file_of_each[order], np.arange(FILES + 1))
        for path, begin, end in zip(self._paths, ends, ends[1:], strict=False):
            if end > begin:
                with path.open("ab") as file:
                    file.write(rows[order[begin:end]].tobytes())

    def files(self) -> Iterator[npt.NDArray[np.void]]:
        """The rows of each file."""
        for path in self._paths:
            yield np.fromfile(path, self._of)

    def remove(self) -> None:
        """Delete the files."""
        for path in self._paths:
            path.unlink(missing_ok=True)


def private(path: Path) -> Path:
    """An empty file there that nobody else can read."""
    os.close(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
    path.chmod(0o600)
    return path
