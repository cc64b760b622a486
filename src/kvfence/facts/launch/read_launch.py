"""What launches servers, told from a log by its name or its first lines, and read: scripts, units, YAML."""

from __future__ import annotations

import re
from enum import Enum, auto
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts.launch.read_manifest import Manifest, read_manifest
from kvfence.facts.launch.read_script import read_shell, read_unit
from kvfence.facts.reading import Reading
from kvfence.facts.scan import Readable

BYTES_MAX = 4 << 20
"""The longest manifest of the corpus has 12 KB."""
_ENDINGS = {".sh": "SCRIPT", ".bash": "SCRIPT", ".service": "UNIT", ".yaml": "YAML", ".yml": "YAML"}
_SHEBANG = re.compile(rb"#![^\n]*\b(?:ba|da|z|k)?sh\b")
_UNIT = re.compile(rb"(?m)^\[Service\]\s*$")
_MANIFEST = re.compile(rb"(?:\s*(?:#[^\n]*|---[^\n]*)\n)*\s*(?:apiVersion|services):")


class LaunchKind(Enum):
    """How it is written."""

    SCRIPT = auto()
    UNIT = auto()
    YAML = auto()


def launched_by_name(path: str) -> bool:
    """Whether a file's name alone says that it launches something."""
    return Path(path).suffix.lower() in _ENDINGS


def launch_kind(target: str, sample: bytes) -> LaunchKind | None:
    """What a target is by its name, or by how it begins; None for a log."""
    ending = _ENDINGS.get(Path(target).suffix.lower())
    if ending:
        return LaunchKind[ending]
    if _SHEBANG.match(sample):
        return LaunchKind.SCRIPT
    if _MANIFEST.match(sample):
        return LaunchKind.YAML
    return LaunchKind.UNIT if sample.startswith(b"[") and _UNIT.search(sample) else None


def read_text(source: Readable, file: str) -> str:
    """All of a launch file.

    Raises:
        TargetError: it is too long to be one.
    """
    content = source.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        raise TargetError(f"{file}: longer than {BYTES_MAX >> 20} MiB, which no launch file is; name a log as FILE.log")
    return content.decode("utf-8", "replace").removeprefix("\ufeff")


def read_launch(source: Readable, kind: LaunchKind, *, file: str, folder: Path | None, name: str) -> Reading:
    """The servers that it launches. `folder` is where files that it names are looked for.

    Raises:
        TargetError: it is too long to be one, or no YAML.
    """
    text = read_text(source, file)
    match kind:
        case LaunchKind.SCRIPT:
            return read_shell(text, file=file, folder=folder, name=name)
        case LaunchKind.UNIT:
            return read_unit(text, file=file, folder=folder, name=name)
        case LaunchKind.YAML:
            return read_manifest(Manifest(text, file, folder, name))
