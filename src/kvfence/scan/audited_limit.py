"""How long a prompt the deployment could hold: as its operator says, or as an audit of it found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kvfence.errors import TargetError, UsageError

_FACTS = ("usable_length", "pool_tokens")
"""The first that a node has."""


def limit_of(given: int | None, audit: Path | None) -> int | None:
    """Tokens; the smallest of all nodes of an audit, as a request passes through several. None where nothing was said.

    Raises:
        TargetError: the file cannot be read.
        UsageError: both were given; it is no report of an audit; no node of it has a length.
    """
    if audit is None:
        return given
    if given is not None:
        raise UsageError("--limit and --audit both say the limit; give one of them")
    try:
        report = json.loads(audit.read_bytes())
    except OSError as error:
        raise TargetError(f"{audit}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict) or not isinstance(report.get("nodes"), list):
        raise UsageError(
            f"{audit}: not a report of an audit; write one with kvfence audit TARGET --format json -o FILE"
        )
    limits = list(_limits(report["nodes"]))
    if not limits:
        raise UsageError(f"{audit}: no node of it says how long a prompt can be; give --limit TOKENS")
    return min(limits)


def _limits(nodes: list[Any]) -> Iterator[int]:
    for node in nodes:
        facts = node.get("facts") if isinstance(node, dict) else None
        if isinstance(facts, dict):
            known = (facts.get(name) for name in _FACTS)
            yield from [value for value in known if type(value) is int and value > 0][:1]
