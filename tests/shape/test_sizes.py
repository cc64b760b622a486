import ast
from pathlib import Path

import pytest

from support.measure import Lines, figures, lines_of, table
from support.source_tree import ROOT, SOURCE, Module, modules

LINES_MAX = 400
LINES_MEDIAN_MAX = 150
FUNCTION_MAX = 70
FUNCTION_MEDIAN_MAX = 8
FUNCTION_P90_MAX = 30
FILES_MIN_FOR_A_MEDIAN = 10
"""Fewer files have no middle worth holding; the caps hold for one."""


def over_a_cap(tree: list[Module]) -> list[str]:
    """Files and functions that are too long, each with its place."""
    files = [f"{module.file}: {lines_of(module).all} lines" for module in tree if lines_of(module).all > LINES_MAX]
    return files + [
        f"{module.file}:{line}: {name} has {length} lines"
        for module in tree
        for name, line, length in module.functions()
        if length > FUNCTION_MAX
    ]


def over_a_median(tree: list[Module]) -> list[str]:
    """Which middles of a tree are too long."""
    found = figures(tree)
    limits = {
        "median of files": (found.file_median, LINES_MEDIAN_MAX),
        "median of functions": (found.function_median, FUNCTION_MEDIAN_MAX),
        "ninth decile of functions": (found.function_p90, FUNCTION_P90_MAX),
    }
    enough = found.files >= FILES_MIN_FOR_A_MEDIAN
    return [f"{name}: {value:.0f}, not {limit}" for name, (value, limit) in limits.items() if enough and value > limit]


def written(folder: Path, texts: list[str]) -> list[Module]:
    for number, text in enumerate(texts):
        (folder / f"m{number}.py").write_text(text, encoding="utf-8")
    return modules(folder)


def function(lines: int, docstring: str = "") -> str:
    return "\n".join(["def f():", *([f'    """{docstring}"""'] if docstring else []), *["    x = 1"] * (lines - 1), ""])


@pytest.mark.parametrize("folder", [SOURCE, ROOT / "tests", ROOT / "benchmarks", ROOT / "docs"], ids=lambda at: at.name)
def test_no_file_and_no_function_is_over_its_cap(folder):
    """A file has one subject, 400 lines at most; a function 70, its docstring aside."""
    assert over_a_cap(modules(folder)) == []


def test_most_files_and_functions_are_short():
    """At the median a file has 150 lines at most and a function 8; nine functions of ten have 30."""
    assert over_a_median(modules()) == []


def test_a_long_file_and_a_long_function_are_found(tmp_path):
    """The caps can be broken, each by one line too many and by none less."""
    assert over_a_cap(written(tmp_path, ["x = 1\n" * LINES_MAX, function(FUNCTION_MAX)])) == []
    found = over_a_cap(written(tmp_path, ["x = 1\n" * (LINES_MAX + 1), function(FUNCTION_MAX + 1)]))
    assert [line.removeprefix(str(tmp_path)) for line in found] == ["/m0.py: 401 lines", "/m1.py:1: f has 71 lines"]


def test_a_docstring_makes_no_function_too_long(tmp_path):
    """Reasons are free."""
    text = function(FUNCTION_MAX, docstring="Claim.\n\n" + "    Reason.\n" * 50 + "    ")
    assert over_a_cap(written(tmp_path, [text])) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (function(FUNCTION_MEDIAN_MAX), []),
        (function(FUNCTION_MEDIAN_MAX + 1), ["median of functions"]),
        (function(FUNCTION_P90_MAX + 1), ["median of functions", "ninth decile of functions"]),
        ("x = 1\n" * (LINES_MEDIAN_MAX + 1), ["median of files"]),
    ],
)
def test_a_tree_of_long_things_is_found_once_it_has_a_middle(tmp_path, text, told):
    """The middles can be broken, and are not asked of a handful of files."""
    assert over_a_median(written(tmp_path, [text] * (FILES_MIN_FOR_A_MEDIAN - 1))) == []
    found = over_a_median(written(tmp_path, [text] * FILES_MIN_FOR_A_MEDIAN))
    assert [line.partition(":")[0] for line in found] == told


def test_each_line_is_counted_for_what_stands_on_it():
    """Code, comment, docstring and nothing are told apart, inside strings and behind code too."""
    text = '"""Claim.\n\nReason.\n"""\n\n# why\nx = 1  # unit\ny = """\n# none\n"""\n\n\ndef f():\n    """Claim."""\n'
    counted = lines_of(Module("m", Path("m.py"), text, ast.parse(text)))
    assert counted == Lines(all=14, code=5, comment=2, docstring=5)


def test_the_measures_are_printed_for_source_core_and_tests():
    """`make measure` has a row for each, of as many columns as its head."""
    head, _, *rows = table().splitlines()
    assert [row.split("|")[1].strip() for row in rows] == ["src/kvfence", "src/kvfence/core", "tests"]
    assert {row.count("|") for row in rows} == {head.count("|")}
