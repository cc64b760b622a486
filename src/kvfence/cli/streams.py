"""Standard streams as they are found: closed, of another encoding, or with a reader that goes away."""

from __future__ import annotations

import io
import os
import sys

from rich.console import Console


def mend_streams() -> None:
    """Let nothing that is printed fail for its letters, and let a closed stream be an empty one."""
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: PTH123, SIM115 — as long as the program
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 — the same
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115 — the same
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def print_to_nobody() -> None:
    """Send what is still to be printed nowhere. The work goes on, and its exit code is the verdict's."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class ReportConsole(Console):
    """A console whose reader may go away (`kvfence audit … | head -1`) without a change of the exit code."""

    def on_broken_pipe(self) -> None:
        """Rich would exit 1 here, which for kvfence means that something was found."""
        self.quiet = True
        if not self.stderr:
            print_to_nobody()
