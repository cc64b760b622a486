"""Where core raises Violation, and, as a plugin of pytest, which of these places a run of tests has reached.

`pytest -p support.violation_sites` writes `file:line` of every construction to the file named by SITES_FILE.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kvfence.core.invariants import Violation
from support.source_tree import Module

SITES_FILE = "VIOLATION_SITES_FILE"


@dataclass(frozen=True)
class Site:
    """One `raise Violation(...)`, which may span lines."""

    file: Path
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.file}:{self.first}"

    def among(self, reached: Iterable[str]) -> bool:
        return not {f"{self.file}:{line}" for line in range(self.first, self.last + 1)}.isdisjoint(reached)


def sites(tree: Iterable[Module]) -> list[Site]:
    """Every place in these modules that raises Violation."""
    return [
        Site(module.file, node.lineno, node.end_lineno or node.lineno)
        for module in tree
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) == "Violation"
    ]


_reached: set[str] = set()


def pytest_configure() -> None:
    """Note who makes a Violation from here on."""
    if SITES_FILE not in os.environ:
        return
    construct = Violation.__init__

    def noted(self: Violation, *args: object) -> None:
        caller = sys._getframe(1)  # the line that raises is what is asked for
        _reached.add(f"{os.path.realpath(caller.f_code.co_filename)}:{caller.f_lineno}")
        construct(self, *args)  # type: ignore[arg-type]  # handed on as it came

    Violation.__init__ = noted  # type: ignore[method-assign, assignment]  # for this run of tests only


def pytest_sessionfinish() -> None:
    """Write what was reached."""
    if SITES_FILE in os.environ:
        Path(os.environ[SITES_FILE]).write_text("\n".join(sorted(_reached)), encoding="utf-8")
