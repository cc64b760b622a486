"""Small logs with planted texts, and what a search for foreign text says of them."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kvfence.findings.exposure import Match
from kvfence.scan.foreign.comparing import found_by
from kvfence.scan.foreign.joining import pairs_files
from kvfence.scan.foreign.matches import ForeignText
from kvfence.scan.foreign.owners import Isolation
from kvfence.scan.passing.engine import InThisProcess
from kvfence.scan.passing.passed import do, passed
from kvfence.scan.passing.units import units_of
from kvfence.scan.reading.inputs import sources_of

BEGIN_MS = 1_788_000_000_000
_WORDS = [
    "".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=3 + number % 7)) for number in range(5000)
]


def prose(seed: Any, chars: int) -> str:
    """Words that nobody else has, the same for the same seed."""
    chance = random.Random(str(seed))
    return " ".join(chance.choices(_WORDS, k=chars // 4))[:chars]


def asked(name: str, *, prompt: str, answer: str, at: int | None = None, **more: Any) -> dict[str, Any]:
    """A line of a log in the plain form: begun `at` seconds."""
    record = {
        "id": name,
        "status": 200,
        "model": "m",
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]},
    }
    return record | ({} if at is None else {"created": BEGIN_MS / 1000 + at}) | more


def found(
    records: Iterable[dict[str, Any]], *, bits: int = 64, isolation: Isolation | None = None
) -> tuple[Match, ...]:
    """What is said of a log with these lines."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        log = folder / "log.jsonl"
        log.write_text("".join(json.dumps(record) + "\n" for record in records))
        return searched(folder, [str(log)], bits=bits, isolation=isolation)


def searched(folder: Path, logs: list[str], *, bits: int = 64, isolation: Isolation | None = None) -> tuple[Match, ...]:
    """What is said of these files."""
    sources = sources_of(logs)
    units = units_of(sources)
    foreign = ForeignText(key=b"k" * 32, folder=folder / "step-foreign", bits=bits, isolation=isolation)
    rows: list[Any] = []
    for number, passes in enumerate((lambda: foreign.first, lambda: foreign.second(rows[0].batches))):
        at = folder / f"step-{number}"
        at.mkdir()
        rows.append(passed(passes(), units, engine=InThisProcess(), folder=at))
    joining, compared = folder / "step-joined", folder / "step-compared"
    joining.mkdir()
    compared.mkdir()
    join = foreign.third([*rows[1].files("probes")])
    do(join, join.tasks(), engine=InThisProcess(), folder=joining)
    compare, tasks = foreign.fourth(pairs_files(joining, join.tasks()), sources)
    do(compare, tasks, engine=InThisProcess(), folder=compared)
    return foreign.matches(found_by(tasks, compared), sources)


def pairs(matches: Iterable[Match]) -> list[tuple[str, str]]:
    """The answer and the source of each."""
    return [(match.response.id, match.source.id) for match in matches]
