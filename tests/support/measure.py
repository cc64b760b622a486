"""Our own tree in figures: `make measure` prints them, `tests/shape/test_sizes.py` holds the limits."""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.source_tree import ROOT, SOURCE, Module, is_function, modules

NO_CODE = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT}


@dataclass(frozen=True)
class Lines:
    """The lines of one file by what stands on them; a line with code and a comment is both."""

    all: int
    code: int
    comment: int
    docstring: int


@dataclass(frozen=True)
class Figures:
    """What `make measure` tells of one tree."""

    files: int
    lines: int
    file_median: float
    file_max: int
    file_max_name: str
    files_over_400: int
    functions: int
    function_median: float
    function_p90: int
    function_max: int
    comment_percent: float
    docstring_percent: float
    documented_percent: float
    code: int


def lines_of(module: Module) -> Lines:
    """Count each line of a file."""
    docstring = {line for first, last in _docstrings(module.tree) for line in range(first, last + 1)}
    code: set[int] = set()
    comment: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            comment.add(token.start[0])
        elif token.type not in NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1)) - docstring
    return Lines(len(module.text.splitlines()), len(code), len(comment), len(docstring))


def figures(tree: Iterable[Module]) -> Figures:
    """Measure a tree; medians of nothing are 0."""
    tree = list(tree)
    counts = {module.name: lines_of(module) for module in tree}
    lines = {name: count.all for name, count in counts.items()}
    longest = max(lines, key=lambda name: lines[name], default="")
    lengths = sorted(length for module in tree for _, _, length in module.functions())
    total = sum(lines.values())
    public = [documented for module in tree for documented in _public(module.tree)]
    return Figures(
        files=len(tree),
        lines=total,
        file_median=statistics.median(lines.values() or [0]),
        file_max=lines.get(longest, 0),
        file_max_name=longest,
        files_over_400=sum(count > 400 for count in lines.values()),
        functions=len(lengths),
        function_median=statistics.median(lengths or [0]),
        function_p90=lengths[len(lengths) * 9 // 10] if lengths else 0,
        function_max=max(lengths, default=0),
        comment_percent=_percent(sum(count.comment for count in counts.values()), total),
        docstring_percent=_percent(sum(count.docstring for count in counts.values()), total),
        documented_percent=_percent(sum(public), len(public)),
        code=sum(count.code for count in counts.values()),
    )


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last line of every docstring, and of every string that stands below a name to explain it."""
    for node in ast.walk(tree):
        for inside in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            match inside:
                case ast.Expr(value=ast.Constant(value=str())):
                    yield inside.lineno, inside.end_lineno


def _public(tree: ast.Module) -> Iterator[bool]:
    """For each public class and function of a module or of a public class: has it a docstring?"""
    waiting = list(tree.body)
    for node in waiting:
        if (is_function(node) or isinstance(node, ast.ClassDef)) and not node.name.startswith("_"):
            yield bool(ast.get_docstring(node))
            waiting += node.body if isinstance(node, ast.ClassDef) else []


def table() -> str:
    """The figures of source, core and tests as Markdown."""
    source, tests = modules(SOURCE), modules(ROOT / "tests")
    core = [module for module in source if module.name.startswith("kvfence.core")]
    its_tests = [module for module in tests if module.name.startswith(("tests.unit.core", "tests.stateful"))]
    trees = {"src/kvfence": figures(source), "src/kvfence/core": figures(core), "tests": figures(tests)}
    ratios = {
        "src/kvfence": trees["tests"].code / trees["src/kvfence"].code,
        "src/kvfence/core": figures(its_tests).code / trees["src/kvfence/core"].code,
    }
    head = (
        "| tree | files | lines | median | max | > 400 | functions | fn median / p90 / max "
        "| comment % | docstring % | public names with docstring % | test:code |\n"
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
    )
    return head + "".join(_row(name, found, ratios.get(name)) for name, found in trees.items())


def _row(name: str, found: Figures, ratio: float | None) -> str:
    return (
        f"| {name} | {found.files} | {found.lines:,} | {found.file_median:.0f} "
        f"| {found.file_max} `{found.file_max_name}` | {found.files_over_400} | {found.functions:,} "
        f"| {found.function_median:.0f} / {found.function_p90} / {found.function_max} "
        f"| {found.comment_percent:.0f} | {found.docstring_percent:.0f} | {found.documented_percent:.0f} "
        f"| {'' if ratio is None else f'{ratio:.2f}'} |\n"
    )


NOTE = """
Lengths of functions are from `def` on, without docstrings; percents are of all lines. test:code compares lines of code
(no blank, comment or docstring): all of tests/ with src/, and tests/unit/core with tests/stateful with core; what they
share in tests/support counts for the whole only.
"""

if __name__ == "__main__":
    sys.stdout.write(table() + NOTE)
