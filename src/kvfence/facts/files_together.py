"""Manifests among files that are read in one go: what one of them says of another's worker counts.

Of files that are not manifests, and of one that cannot be read, nothing is said here: whoever reads them alone does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kvfence.errors import TargetError
from kvfence.facts.launch.read_launch import BYTES_MAX, LaunchKind, launch_kind, launched_by_name, read_text
from kvfence.facts.launch.read_manifest import NO_SERVER, Manifest, read_manifests
from kvfence.facts.opened import displayed, opened_text
from kvfence.facts.reading import Reading

FILES_MAX = 500
"""A deployment has some dozens. What comes behind them, or behind as many bytes as one may have, is read alone."""


def read_together(files: Sequence[tuple[str, str]]) -> dict[str, Reading]:
    """By path: what manifests say, read together. `files` are paths, and what a server is called that nothing names."""
    manifests: dict[str, Manifest] = {}
    chars = 0
    for path, name in files:
        manifest = _manifest(path, name) if launched_by_name(path) and len(manifests) < FILES_MAX else None
        if manifest and chars + len(manifest.text) <= BYTES_MAX:
            manifests[path] = manifest
            chars += len(manifest.text)
    if len(manifests) < 2:  # noqa: PLR2004 — one has nothing beside it
        return {}
    readings = zip(manifests, read_manifests([*manifests.values()]), strict=True)
    return {path: reading for path, reading in readings if isinstance(reading, Reading)}


def starts_nothing(reading: Reading) -> bool:
    """Whether a manifest was read whole and has no server of its own."""
    return not reading.nodes and set(reading.gaps) <= {NO_SERVER}


def _manifest(path: str, name: str) -> Manifest | None:
    """A file that is one; None where it is not, or cannot be read, or not whole."""
    try:
        with opened_text(path) as text:
            if launch_kind(path, text.sample) is not LaunchKind.YAML:
                return None
            content = read_text(text.source, displayed(path))
            is_whole = not text.gaps
    except (TargetError, OSError):
        return None
    return Manifest(content, displayed(path), Path(path).absolute().parent, name) if is_whole else None
