"""Where a line stands: launch files that are read together have one count of lines, so a line says its file too."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from kvfence.findings.finding import Evidence
from kvfence.findings.redact import as_evidence


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one count, and which of them is the one that is being read."""

    home: str
    files: tuple[str, ...]
    firsts: tuple[int, ...]
    """By file: its first line's number in the common count."""

    @classmethod
    def of(cls, file: str) -> Places:
        """Of a file that is read alone."""
        return cls(file, (file,), (1,))

    @classmethod
    def together(cls, files: Sequence[str], lines: Sequence[int]) -> Places:
        """Of files with so many lines; the first is at home."""
        firsts = [1]
        for count in lines[:-1]:
            firsts.append(firsts[-1] + count + 1)
        return cls(files[0], tuple(files), tuple(firsts))

    def at(self, line: int) -> tuple[str, int]:
        """The file, and the line in it."""
        index = max(bisect_right(self.firsts, line) - 1, 0)
        return self.files[index], max(line - self.firsts[index] + 1, 1)

    def told(self, line: int) -> str:
        """As a sentence about the file that is being read calls it."""
        file, number = self.at(line)
        return f"line {number}" if file == self.home else f"{file} line {number}"

    def evidence(self, line: int, text: str) -> Evidence:
        """A place, with what stands there."""
        file, number = self.at(line)
        return Evidence(file=file, line=number, text=as_evidence(text))
