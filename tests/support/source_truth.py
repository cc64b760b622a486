"""The table of which release has which fix, as it was found by reading: `tests/corpus/source-verdicts.txt`."""

from __future__ import annotations

import re
from pathlib import Path

TABLE = Path(__file__).parent.parent / "corpus" / "source-verdicts.txt"
_LINE = re.compile(r"(?P<engine>\w+)\s+(?P<fix>[\w-]+)\s+(?P<where>\S.*)")


def ordered(version: str) -> tuple[int, ...]:
    """A release's number, in the order in which releases follow one another; a post-release after its release."""
    numbers, _, post = version.partition(".post")
    return (*(int(part) for part in numbers.split(".")), int(post or 0))


def fixes(engine: str, version: str) -> dict[str, bool] | None:
    """For each fix whether that release has it; None if it has no disaggregated serving."""
    lines = (_LINE.fullmatch(line) for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#"))
    found = {line["fix"]: _holds(line["where"], version) for line in lines if line and line["engine"] == engine}
    return found if found.pop("since") else None


def _holds(where: str, version: str) -> bool:
    if where == "none":
        return False
    return any(_one(part.strip(), version) for part in where.split(" or "))


def _one(condition: str, version: str) -> bool:
    sign, limit = condition.split()
    return ordered(version) >= ordered(limit) if sign == ">=" else ordered(version) < ordered(limit)
