"""Where a scan leaves what it has found on the way: readable to nobody else, and gone when the scan is over."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kvfence import __version__
from kvfence.errors import TargetError, UsageError
from kvfence.scan.reading.source import Source

KEY_BYTES = 32
_MINE = ("key", "lock")
_STEPS = "step-"
_OF = "of"
"""The file of a step that says what it is the work of."""


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """A folder of mode 0700."""

    path: Path
    key: bytes
    """Random, and the same when a scan is gone on with: what hashes are keyed with."""

    def step(self, name: str, sources: Sequence[Source], job: Sequence[object]) -> Path:
        """The folder of one step over these inputs. `job`: all that its rows depend on besides; it is pickled.

        Raises:
            UsageError: it holds the work of another scan.
        """
        at = self.path / f"{_STEPS}{name}"
        at.mkdir(mode=0o700, exist_ok=True)
        of, here = at / _OF, _identity(sources, job)
        if not of.exists():
            _written(of, here.encode())
        elif of.read_text() != here:
            raise UsageError(
                f"{self.path}: it holds the work of another scan (other files, options or version); "
                "name another folder for --work, or delete this one"
            )
        return at

    def clear(self) -> None:
        """Take away all that was left here."""
        for step in self.path.glob(f"{_STEPS}*"):
            shutil.rmtree(step)
        for name in _MINE:
            (self.path / name).unlink(missing_ok=True)


@contextmanager
def work_folder(path: Path | None) -> Iterator[WorkFolder]:
    """The folder at this path, or one that is gone afterwards. When all went well, nothing of the scan is left in it.

    Raises:
        TargetError: it cannot be made.
        UsageError: another scan is working there, or it is no folder of a scan.
    """
    if path is None:
        with tempfile.TemporaryDirectory(prefix="kvfence-scan-") as made:
            yield WorkFolder(Path(made).resolve(), secrets.token_bytes(KEY_BYTES))
        return
    _check(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise TargetError(f"{path}: cannot be the work folder: {error.strerror}; name another for --work") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"{path}: another scan is working here; wait for it, or name another --work") from error
        folder = WorkFolder(path.resolve(), _key(path / "key"))
        yield folder
        folder.clear()
    finally:
        os.close(lock)


def _check(path: Path) -> None:
    """A folder with something else in it is not touched."""
    if path.is_dir():
        strangers = [one.name for one in path.iterdir() if not (one.name in _MINE or one.name.startswith(_STEPS))]
        if strangers:
            raise UsageError(f"{path}: not the work folder of a scan, as there are other files in it; name another")


def _key(path: Path) -> bytes:
    if not path.exists():
        _written(path, secrets.token_bytes(KEY_BYTES))
    return path.read_bytes()


def _written(path: Path, content: bytes) -> None:
    """Whole or not at all."""
    making = path.with_name(f"{path.name}.part")
    making.unlink(missing_ok=True)
    with os.fdopen(os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    making.rename(path)


def _identity(sources: Sequence[Source], job: Sequence[object]) -> str:
    """Changes with all that the rows depend on: the version, the files as they lie, the job."""
    said = [__version__, *(f"{source!r} {_state(source)}" for source in sources)]
    digest = hashlib.sha256("\n".join(said).encode(errors="surrogateescape"))
    for one in job:
        digest.update(pickle.dumps(one))
    return digest.hexdigest()


def _state(source: Source) -> str:
    try:
        seen = Path(source.target).stat()
    except (OSError, ValueError):
        return "no file"
    return f"{seen.st_size} {seen.st_mtime_ns}"
