"""Small files that a launch file names: looked for beside it, and read only if they are plain files and short.

In a container's own file system stands what is mounted there, which comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_BYTES_MAX = 262_144


@dataclass(frozen=True, slots=True)
class Beside:
    """Where what a command names is looked for; no folder where there is none."""

    folder: Path | None
    mounted: Mapping[str, str] = field(default_factory=dict)
    """By the path that the container sees: the text of a file."""

    def read(self, name: str) -> str | None:
        """The text of a file by its name as the command gives it; None where it is not there."""
        return self.mounted[name] if name in self.mounted else read_beside(name, self.folder)


def read_beside(name: str, folder: Path | None) -> str | None:
    """The text of a file by its name as the launch file gives it; None where it is not there or is not to be read."""
    if folder is None or not name or "\0" in name:
        return None
    for path in (folder / name, folder / Path(name).name):
        try:
            if path.is_file():
                with path.open("rb") as file:
                    return file.read(_BYTES_MAX).decode("utf-8", "replace")
        except (OSError, ValueError):
            continue
    return None
