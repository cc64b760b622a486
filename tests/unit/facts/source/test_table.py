"""The published table of releases says what reading the code found."""

from __future__ import annotations

import re
from pathlib import Path

from support.source_truth import fixes

PAGE = Path(__file__).parents[4] / "docs" / "source-verdicts.md"


def rows():
    """Each line's engine, the releases that it names, and its signs by fix."""
    engine, names = "", []
    for line in PAGE.read_text("utf-8").splitlines():
        heading = re.match(r"## (\w+):", line)
        if heading:
            engine = heading[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "release":
            names = cells[1:]
        elif re.match(r"\d", cells[0]):
            yield engine, re.findall(r"\d[\w.]+(?= to|$| \()", cells[0]), dict(zip(names, cells[1:], strict=True))


def test_the_page_agrees_with_what_was_read():
    """The first and the last release of every line have exactly these fixes."""
    seen = 0
    for engine, versions, signs in rows():
        for version in versions:
            truth = fixes(engine, version)
            wanted = {fix: "+" if there else "-" for fix, there in truth.items()} if truth else None
            told = signs if "no " not in next(iter(signs.values())) else None
            assert told == wanted, f"{engine} {version}"
            seen += 1
    assert seen >= 15
