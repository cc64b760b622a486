"""The real program on a pseudo-terminal, as a person sees it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support.programs import wait_until

COLUMNS, LINES = 100, 30
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class OnTerminal:
    """A running program and all that it has drawn so far."""

    process: subprocess.Popen[bytes]
    drawn: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        """What was drawn, in its order, without colours and movements."""
        return _CONTROL.sub("", self.drawn.decode(errors="replace")).replace("\r", "")

    def shows(self, words: str, within_s: float = 60.0) -> None:
        """Wait until these words have been drawn."""
        try:
            wait_until(lambda: words in self.text, within_s)
        except AssertionError:
            raise AssertionError(f"{words!r} was never drawn: {self.text}") from None


@contextlib.contextmanager
def on_terminal(*args: str, stdout: Path | None = None) -> Iterator[OnTerminal]:
    """`kvfence` with a terminal as its streams; with `stdout`, as `kvfence … > stdout`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    with contextlib.ExitStack() as files:
        out = files.enter_context(stdout.open("wb")) if stdout else theirs
        process = subprocess.Popen(
            [sys.executable, "-m", "kvfence", *args],
            stdin=theirs,
            stdout=out,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
        )
    os.close(theirs)
    running = OnTerminal(process)
    reader = threading.Thread(target=_read, args=(ours, running.drawn), daemon=True)
    reader.start()
    try:
        yield running
        process.wait(60)
        reader.join(10)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int, drawn: bytearray) -> None:
    with contextlib.suppress(OSError):  # how a terminal ends
        while content := os.read(terminal, 65_536):
            drawn += content
