"""The corpus of launch files, and what the header of each says that a right reader finds."""

from __future__ import annotations

import re
from pathlib import Path

from kvfence.facts.reading import Reading
from kvfence.facts.target import read_target

LAUNCH = sorted((Path(__file__).parent.parent / "corpus" / "launch").iterdir())
_FACTS = re.compile(r"^# facts (.+?): (.*)$", re.MULTILINE)
_GAP = re.compile(r"^# gap: (.*)$", re.MULTILINE)


def expected_facts(path: Path) -> dict[str, dict[str, str]]:
    """By node; `?` for what must not be claimed."""
    found: dict[str, dict[str, str]] = {}
    for node, pairs in _FACTS.findall(path.read_text("utf-8")):
        found.setdefault(node, {}).update(pair.strip().split("=", 1) for pair in pairs.split(", "))
    return found


def expected_gaps(path: Path) -> list[str]:
    """A part of each."""
    return _GAP.findall(path.read_text("utf-8"))


def written(folder: Path, text: str, name: str) -> Reading:
    """What is read from a launch file of that content."""
    path = folder / name
    path.write_text(text, "utf-8")
    return read_target(str(path))


def only_values(reading: Reading) -> dict[str, str | int | bool]:
    """The values of its one node."""
    (node,) = reading.nodes
    return {name: fact.value for name, fact in node.facts.items()}
