from pathlib import Path

import pytest

from support.floors import FLOORS, cycle, offences, picture
from support.source_tree import ROOT, SOURCE, modules

BASE = {
    "__init__.py": "",
    "errors.py": "",
    "__main__.py": "from kvfence.cli import main\n",
    "cli/__init__.py": "",
    "cli/main.py": "from kvfence import errors\n",
    "facts/__init__.py": "",
    "facts/fact.py": "from kvfence.errors import X\n",
    "report/__init__.py": "",
    "report/page.py": "",
    "audit/__init__.py": "",
    "audit/rule.py": "from kvfence.facts.fact import Fact\n",
    "probe/__init__.py": "",
    "cell/__init__.py": "",
    "cell/store.py": "from ..core import pool\n",
    "core/__init__.py": "",
    "core/pool.py": "import enum\nfrom kvfence.core import lease\nfrom . import lease\n",
    "core/lease.py": "",
}


def planted(tmp_path: Path, files: dict[str, str]) -> Path:
    """A package of our name that keeps the rules, but for these files."""
    source = tmp_path / "kvfence"
    for name, text in {**BASE, **files}.items():
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
    """A new package is not forgotten in the table, and none stands there that is not."""
    packages = {path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py") if path.parent != SOURCE}
    assert packages == set(FLOORS)


def test_imports_that_point_down_pass(tmp_path):
    """The planted tree keeps the rules until something is planted in it."""
    tree = modules(planted(tmp_path, {}))
    assert (list(offences(tree)), cycle(tree)) == ([], [])


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("core/pool.py", "import numpy\n", "standard library"),
        ("core/pool.py", "import kvfence\n", "standard library"),
        ("core/pool.py", "from kvfence.errors import UsageError\n", "standard library"),
        ("core/pool.py", "from kvfence.facts import fact\n", "standard library"),
        ("findings/finding.py", "from kvfence.facts import fact\n", "looks up"),
        ("errors.py", "import kvfence.cell.store\n", "looks up"),
        ("__init__.py", "from kvfence.cell import store\n", "looks up"),
        ("facts/fact.py", "def f():\n    from kvfence.report import page\n", "do not import one another"),
        ("audit/rule.py", "from ..probe import drive\n", "do not import one another"),
        ("probe/drive.py", "import kvfence.core.pool\n", "left half"),
        ("probe/drive.py", "from kvfence.core.pool import Pool\n", "left half"),
        ("probe/drive.py", "import importlib\nimportlib.import_module('kvfence.core.pool')\n", "left half"),
        ("probe/drive.py", "def f():\n    return __import__('kvfence.core')\n", "left half"),
        ("probe/drive.py", "from importlib import import_module\nimport_module(__name__ + 'x')\n", "computed"),
        ("cell/store.py", "import torch\n", "heavy"),
        (
            "engines/digest/on_cpu.py",
            "def f():\n    from kvfence.engines.digest import in_torch\n    import torch\n",
            "in_triton may",
        ),
        ("audit/rule.py", "def f():\n    import pyarrow\n", "only kvfence.scan may import it"),
        ("cli/scan.py", "from kvfence.scan.x import y\n", "inside the function"),
        ("cell/store.py", "def f():\n    from torch import nn\n", "heavy"),
        ("new/page.py", "import kvfence.errors\n", "no floor"),
        ("cli/main.py", "import kvfence.new\n", "no floor"),
    ],
)
def test_an_import_that_points_the_wrong_way_is_told_with_file_line_and_rule(tmp_path, file, text, why):
    """The check can fail: each kind of wrong import is found, in whatever form it is written, and told once."""
    new = {"new/__init__.py": ""}
    found = list(offences(modules(planted(tmp_path, {**new, file: text}))))
    line = text.count("\n")
    assert len(found) == 1
    assert f"{file}:{line}: " in found[0].replace("\\", "/")
    assert why in found[0]


@pytest.mark.parametrize(
    ("text", "told"), [("def f():\n    import torch\n", 0), ("import torch\n", 1), ("class C:\n    import torch\n", 1)]
)
def test_a_heavy_package_is_imported_late_where_it_may_be_imported_at_all(tmp_path, text, told):
    """Being named in the table is not enough: only inside a function does it load when it is needed."""
    tree = modules(planted(tmp_path, {"cell/store.py": text}))
    assert len(list(offences(tree, heavy={"torch": ("kvfence.cell.store",)}))) == told


@pytest.mark.parametrize(
    ("files", "members"),
    [
        ({"a.py": "import kvfence.b\n", "b.py": "from kvfence import a\n"}, {"kvfence.a", "kvfence.b"}),
        (
            {"core/__init__.py": "from .pool import Pool\n", "core/pool.py": "from kvfence.core import X\n"},
            {"kvfence.core", "kvfence.core.pool"},
        ),
        (
            {"facts/__init__.py": "import kvfence.errors\n", "errors.py": "from kvfence.facts.fact import F\n"},
            {"kvfence.errors", "kvfence.facts"},
        ),
    ],
    ids=["two modules", "a package and its module", "through an __init__ that nobody names"],
)
def test_a_cycle_is_found(tmp_path, files, members):
    """The check for cycles can fail, and an `__init__` is no way round it."""
    assert members <= set(cycle(modules(planted(tmp_path, {**files, "facts/fact.py": ""}))))


def test_an_import_inside_a_function_closes_no_cycle(tmp_path):
    """What is imported when it is called has been loaded by then."""
    files = {"facts/fact.py": "import kvfence.facts.b\n", "facts/b.py": "def f():\n    import kvfence.facts.fact\n"}
    assert cycle(modules(planted(tmp_path, files))) == []


def test_the_picture_of_the_floors_is_the_table():
    """docs/diagrams/floors.svg is drawn from the table; `make docs` writes it."""
    assert (ROOT / "docs" / "diagrams" / "floors.svg").read_text(encoding="utf-8") == picture()
