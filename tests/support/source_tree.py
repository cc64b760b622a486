"""The project's own source as syntax trees, for the tests of its shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "kvfence"
COMPUTED = "(a computed name)"


@dataclass(frozen=True)
class Import:
    """One import of one module by another."""

    importer: str
    imported: str
    file: Path
    line: int
    at_top: bool


@dataclass(frozen=True)
class Module:
    """One source file."""

    name: str
    file: Path
    text: str
    tree: ast.Module

    def imports(self) -> Iterator[Import]:
        """Every import, at module level and inside functions alike."""
        inside = {id(node) for top in ast.walk(self.tree) if is_function(top) for node in ast.walk(top)}
        for node in ast.walk(self.tree):
            for name in _imported(node, self.name, is_package=self.file.name == "__init__.py"):
                yield Import(self.name, name, self.file, node.lineno, id(node) not in inside)

    def functions(self) -> Iterator[tuple[str, int, int]]:
        """Every function: its name, its first line, how many lines it has from `def` on, without its docstring."""
        for node in ast.walk(self.tree):
            if is_function(node):
                first = node.body[0]
                docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) is not None else 0
                yield node.name, node.lineno, node.end_lineno - node.lineno + 1 - docstring


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def modules(source: Path = SOURCE) -> list[Module]:
    """Every module below `source`, which is the folder of the package."""
    found = []
    for file in sorted(source.rglob("*.py")):
        parts = [source.name, *file.relative_to(source).with_suffix("").parts]
        name = ".".join(part for part in parts if part != "__init__")
        text = file.read_text(encoding="utf-8")
        found.append(Module(name, file, text, ast.parse(text)))
    return found


def _imported(node: ast.AST, importer: str, *, is_package: bool) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Call):
        return _imported_by_call(node)
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        parts = importer.split(".") if is_package else importer.split(".")[:-1]
        parts = parts[: len(parts) - node.level + 1]
        base = ".".join([*parts, base] if base else parts)
    return [base, *(f"{base}.{alias.name}" for alias in node.names)]


def _imported_by_call(node: ast.Call) -> list[str]:
    """`importlib.import_module("x")` and `__import__("x")` are imports too."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in {"import_module", "__import__"}:
        return []
    match node.args:
        case [ast.Constant(value=str(name)), *_]:
            return [name]
        case _:
            return [COMPUTED]
