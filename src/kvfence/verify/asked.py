"""What a user asks for by name, or one line that says which names there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kvfence.core.rules import NAMED, Rules, Wire
from kvfence.errors import TargetError, UsageError
from kvfence.verify.check import wires_of
from kvfence.verify.move import Move
from kvfence.verify.traces import move_of, setting_of
from kvfence.verify.world import Setting

TRACE_BYTES_MAX = 1 << 20
"""A trace is some dozens of moves; a file over a MiB is none."""


def rules_named(name: str) -> Rules:
    """Raises `UsageError` with the names that there are."""
    if name not in NAMED:
        raise UsageError(f"no rules are called {name!r}; there are {', '.join(NAMED)}")
    return NAMED[name]


def wires_named(name: str | None, rules: Rules) -> tuple[Wire, ...]:
    """That wire; without a name, those that belong to `rules`. Raises `UsageError`."""
    if name is None:
        return wires_of(rules)
    if name not in tuple(Wire):
        raise UsageError(f"no wire is called {name!r}; there are {', '.join(Wire)}")
    return (Wire(name),)


def trace_in(file: Path, rules: Rules | None) -> tuple[Setting, tuple[Move, ...]]:
    """The moves of a report, and what they were found under. Raises `TargetError` for what is no such report."""
    try:
        if file.stat().st_size > TRACE_BYTES_MAX:
            raise TargetError(f"{file} is too large for a trace; name a report of kvfence verify --format json")
        document: Any = json.loads(file.read_text(encoding="utf-8"))
        if document["violation"] is None:
            raise TargetError(f"{file} has no violation, so there is no trace to replay")
        return setting_of(document, rules), tuple(move_of(move) for move in document["violation"]["trace"])
    except OSError as error:
        raise TargetError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TargetError(
            f"{file} is no report of kvfence verify --format json: {type(error).__name__}: {error}"
        ) from error
