"""How `scan` hands back what it found: files that only their owner can read, and a table for people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kvfence.cli.output import check_not_read, check_writable, hand_back, write_text
from kvfence.errors import UsageError
from kvfence.findings.exposure import Exposure
from kvfence.report.scan_facts import ScanFacts
from kvfence.report.scan_formats import ScanFormat, rendered


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where what is found goes."""

    form: ScanFormat
    report: Path | None
    rotation: Path | None
    letter_for: str | None = None
    trail: Path | None = None

    def check(self, read: Iterable[str]) -> None:
        """Find out before hours of work whether all of it can be written.

        Raises:
            TargetError: one cannot be.
            UsageError: one is what is read, or what another is, or its name says no form.
        """
        if self.rotation is not None:
            from kvfence.report.scan_rotation import writer_for  # noqa: PLC0415 — only who asks pays for it

            writer_for(self.rotation)
        if self.letter_for is not None and self.form is not ScanFormat.MARKDOWN:
            raise UsageError("--letter-for writes a letter: give it with --format markdown")
        files = [*self.files(), *([] if self.trail is None else [self.trail])]
        for file in files:
            check_not_read(file, read)
        if len({os.path.realpath(file) for file in files}) < len(files):
            raise UsageError(f"{files[-1]}: two outputs cannot go to one file; name another")
        check_writable(*files)

    @property
    def takes_stdout(self) -> bool:
        """Whether a report for a machine goes to standard output."""
        return self.form is not ScanFormat.TABLE and self.report is None

    def files(self) -> Iterator[Path]:
        """Those that are written; the trail is added to."""
        yield from (file for file in (self.report, self.rotation) if file is not None)

    def write(self, seen: Exposure, facts: ScanFacts) -> None:
        """All of them, and the table for people."""
        from kvfence.report.scan_terminal import print_scan  # noqa: PLC0415 — loaded once there is something to print

        if self.rotation is not None:
            from kvfence.report.scan_rotation import writer_for  # noqa: PLC0415 — only who asks pays for it

            write_text(writer_for(self.rotation)(seen), self.rotation, is_private=True)
        hand_back(
            partial(print_scan, seen),
            partial(rendered, seen, self.form, facts),
            self.report,
            machine=self.form is not ScanFormat.TABLE,
            is_private=True,
        )
