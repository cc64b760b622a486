"""Writes docs/source-verdicts.md from a folder of wheels: `python docs/source_verdicts.py FOLDER`.

Releases in a row that have the same verdicts share a line. It takes about a quarter of an hour for all releases.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from kvfence.facts.source.questions import CATALOGUE  # noqa: E402 — the path is set above
from kvfence.facts.source.read_source import read_source  # noqa: E402 — the same
from support.source_truth import ordered  # noqa: E402 — the same

HEAD = """# Which release has which fix

Written by `python docs/source_verdicts.py FOLDER` from wheels, by what their code does; the version strings were not
looked at. `tests/corpus/source-verdicts.txt` has what reading the code found, and `make conformance` compares the two.
What each fix is: [fix-absent](rules/fix-absent.md).

+ present, - absent, ? cannot tell.
"""
SIGNS = {"present": "+", "absent": "-", "cannot tell": "?"}
NAMED = re.compile(r"(?P<engine>sglang|vllm)-(?P<version>[\w.]+?)-.*\.whl")


def section(engine: str, wheels: list[tuple[str, Path]]) -> str:
    """One engine's table."""
    fixes = [question.fix for question in CATALOGUE[engine].questions]
    rows = []
    for version, wheel in sorted(wheels, key=lambda found: ordered(found[0])):
        (tree,) = read_source(str(wheel)).trees
        rows.append((version, tuple(SIGNS[verdict.presence] for verdict in tree.verdicts)))
    lines = []
    for signs, group in groupby(rows, key=lambda row: row[1]):
        versions = [version for version, _signs in group]
        named = versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]} ({len(versions)} releases)"
        cells = signs or (f"no {CATALOGUE[engine].called}", *[""] * (len(fixes) - 1))
        lines.append(f"| {named} | {' | '.join(cells)} |")
    head = f"| release | {' | '.join(fixes)} |\n| --- |{' :-: |' * len(fixes)}"
    return "\n".join([f"\n## {engine}: {len(rows)} releases read\n", head, *lines, ""])


def main() -> None:
    """Read every wheel of the folder."""
    named = [(NAMED.fullmatch(wheel.name), wheel) for wheel in sorted(Path(sys.argv[1]).glob("*.whl"))]
    found = [(match["engine"], match["version"], wheel) for match, wheel in named if match]
    parts = [
        section(engine, [(version, wheel) for of, version, wheel in found if of == engine]) for engine in CATALOGUE
    ]
    (DOCS / "source-verdicts.md").write_text(HEAD + "".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
