from pathlib import Path

import pytest

from support.floors import FLOORS, cycle, offences, picture
from support.source_tree import ROOT, SOURCE, modules


def planted(tmp_path: Path, files: dict[str, str]) -> Path:
    """A package of that name with these files."""
    source = tmp_path / "kvfence"
    for name, text in {"__init__.py": "", **files}.items():
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return source


def test_imports_point_down():
    """No module of ours imports upwards, sideways, or from the other half."""
    assert list(offences(modules())) == []


def test_there_are_no_import_cycles():
    """At module level, imports form no cycle."""
    assert cycle(modules()) == []


def test_every_package_has_its_floor():
    """A new package is not forgotten in the table."""
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages == set(FLOORS)


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("core/pool.py", "import numpy\n", "standard library"),
        ("core/pool.py", "from kvfence.errors import UsageError\n", "standard library"),
        ("findings/finding.py", "from kvfence.facts import fact\n", "looks up"),
        ("facts/fact.py", "def f():\n    from kvfence.report import page\n", "do not import one another"),
        ("probe/drive.py", "import kvfence.core.pool\n", "left half"),
        ("cell/store.py", "import torch\n", "heavy"),
    ],
)
def test_an_import_that_points_the_wrong_way_is_told_with_file_line_and_rule(tmp_path, file, text, why):
    """The check can fail: each kind of wrong import is found, at module level and inside functions."""
    source = planted(
        tmp_path,
        {
            "errors.py": "",
            "facts/__init__.py": "",
            "facts/fact.py": "",
            "report/page.py": "",
            "report/__init__.py": "",
            "core/__init__.py": "",
            "core/pool.py": "",
            file: text,
        },
    )
    found = list(offences(modules(source)))
    assert found
    assert all(f"{file}:" in line.replace("\\", "/") and why in line for line in found)


def test_a_cycle_is_found(tmp_path):
    """The check for cycles can fail."""
    source = planted(tmp_path, {"a.py": "import kvfence.b\n", "b.py": "from kvfence import a\n"})
    assert {"kvfence.a", "kvfence.b"} <= set(cycle(modules(source)))


def test_the_picture_of_the_floors_is_the_table():
    """docs/diagrams/floors.svg is drawn from the table; `make docs` writes it."""
    assert (ROOT / "docs" / "diagrams" / "floors.svg").read_text(encoding="utf-8") == picture()
