"""How `scan` accounts for what it reads and writes: an audit trail, and the facts that reports end with."""

from __future__ import annotations

import getpass
import hashlib
import shlex
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from kvfence.cli.output import write_text
from kvfence.findings.custody import FileRead, FileWritten
from kvfence.findings.exposure import Exposure
from kvfence.findings.redact import without_secrets
from kvfence.report.run import Run
from kvfence.report.scan_trail import Start, began_line, ended_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Custody:
    """One run's account, from before its first byte is read."""

    start: Start
    trail: Path | None
    read: Callable[[], tuple[FileRead, ...]]
    """What was read, as it lies now; with SHA-256 where there is a trail."""

    def run(self, run: Run) -> Run:
        """The same run, with its command line."""
        return replace(run, again=self.start.command)

    def close(self, run: Run, seen: Exposure, *, read: tuple[FileRead, ...], wrote: Iterable[Path]) -> None:
        """Add the run's last line to the trail, once all is written."""
        if self.trail is not None:
            line = ended_line(self.start, run, seen, read=read, wrote=tuple(_written(wrote)))
            write_text(line, self.trail, mode="a", is_private=True)


def opened(before: tuple[FileRead, ...], read: Callable[[], tuple[FileRead, ...]], trail: Path | None) -> Custody:
    """The account of the run that begins now; its first line stands in the trail before anything is read.

    `before` are the inputs as they lie now, `read` looks at them once more.

    Raises:
        TargetError: the trail cannot be written.
    """
    start = Start(run_id=uuid.uuid4().hex, at=datetime.now(UTC), user=_user(), command=_command())
    if trail is not None:
        write_text(began_line(start, before), trail, mode="a", is_private=True)
    return Custody(start=start, trail=trail, read=read)


def _command() -> str:
    return without_secrets(shlex.join(("kvfence", *sys.argv[1:])))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in many containers
        return "unknown"


def _written(files: Iterable[Path]) -> Iterator[FileWritten]:
    """Pipes and devices keep nothing, and are left out."""
    for file in files:
        if file.is_file():
            content = file.read_bytes()
            yield FileWritten(file=str(file), size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
