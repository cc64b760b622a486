"""Compiled rules from one run to the next: a second less at each start. They are made before any text is there."""

from __future__ import annotations

import os
import platform
import stat
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from kvfence.scan.credentials import kingfisher, prefilter
from kvfence.scan.credentials.finding import Kinds, database


def rules_of(kinds: Kinds, folder: Path | None) -> bytes:
    """What `Finder` needs for these kinds: from the folder where it has it, else compiled, and put there if it can be.

    A folder that is not its owner's alone is not used, and no error of it stops a scan.
    """
    if folder is None or not _is_own(folder):
        return database(kinds)
    path = folder / f"{_name(kinds)}.rules"
    try:
        kept = path.read_bytes()
    except OSError:
        kept = b""
    if kept and prefilter.is_usable(kept):
        return kept
    made = database(kinds)
    _put(path, made)
    return made


def _is_own(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and not seen.st_mode & 0o022


def _name(kinds: Kinds) -> str:
    """Another one for other rules, other releases of what compiles them, and another way of ours to loosen them."""
    said = [
        *(rule.begins or rule.pattern for rule in kinds.rules),
        *(version(name).encode() for name in ("hyperscan", "kingfisher-secret-scanner")),
        *(Path(str(module.__file__)).read_bytes() for module in (prefilter, kingfisher)),
        platform.machine().encode(),
    ]
    return sha256(b"\0".join(said)).hexdigest()[:32]


def _put(path: Path, made: bytes) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
        part.rename(path)
    except OSError:
        part.unlink(missing_ok=True)
