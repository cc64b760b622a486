"""Small files that a launch file names: looked for beside it, and read only if they are plain files and short."""

from __future__ import annotations

from pathlib import Path

_BYTES_MAX = 262_144


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
