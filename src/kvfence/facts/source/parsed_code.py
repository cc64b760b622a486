"""Parsed files as code: functions by name, and what a call may reach. No question about an engine lives here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kvfence.facts.source.files import Files, Unreadable
from kvfence.facts.source.parse import parsed
from kvfence.facts.target import displayed
from kvfence.findings.finding import Evidence
from kvfence.findings.redact import as_evidence

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
CANDIDATES_MAX = 4
"""A name that more functions have says nothing about which one is called."""


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or method, with where it stands."""

    file: str
    owner: str | None
    """The class that it is a method of."""
    node: AnyFunction

    @property
    def name(self) -> str:
        """Its own name."""
        return self.node.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names, in order."""
        inputs = self.node.args
        return tuple(each.arg for each in (*inputs.posonlyargs, *inputs.args, *inputs.kwonlyargs))


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Every file that a question may look at, parsed."""

    shown: str
    """The root as it can be printed."""
    trees: dict[str, ast.Module]
    unreadable: dict[str, Unreadable]
    functions: tuple[Function, ...]
    _by_name: dict[str, list[Function]]
    _content: dict[str, bytes]

    @classmethod
    def read(cls, files: Files, folders: Iterable[str]) -> Code:
        """Parse all Python files of these folders."""
        trees: dict[str, ast.Module] = {}
        unreadable: dict[str, Unreadable] = {}
        contents: dict[str, bytes] = {}
        for name in dict.fromkeys(name for folder in folders for name in files.python_files(folder)):
            content = files.read(name)
            result = content if isinstance(content, Unreadable) else parsed(content)
            if isinstance(result, Unreadable):
                unreadable[name] = result
            elif isinstance(content, bytes):
                trees[name] = result
                contents[name] = content
        functions = tuple(found for name, tree in trees.items() for found in _functions(name, tree.body, None))
        by_name: dict[str, list[Function]] = {}
        for function in functions:
            by_name.setdefault(function.name, []).append(function)
        return cls(files.shown, trees, unreadable, functions, by_name, contents)

    def holding(self, *words: str) -> Iterator[Function]:
        """The functions of files that hold all of these words somewhere: the rest need not be walked."""
        wanted = {name for name, content in self._content.items() if all(word.encode() in content for word in words)}
        return (function for function in self.functions if function.file in wanted)

    def named(self, name: str) -> list[Function]:
        """Every function of that name."""
        return self._by_name.get(name, [])

    def trees_holding(self, *words: str) -> Iterator[tuple[str, ast.Module]]:
        """The files that hold all of these words."""
        for name, tree in self.trees.items():
            if all(word.encode() in self._content[name] for word in words):
                yield name, tree

    def called(self, call: ast.Call, inside: Function) -> list[Function]:
        """What a call may reach, as far as names tell: the same class, then the same file, then the tree."""
        match call.func:
            case ast.Name(id=name):
                found = [function for function in self.named(name) if function.owner is None]
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                found = self.named(name)
            case ast.Attribute(attr=name):
                found = [function for function in self.named(name) if function.owner]
            case _:
                return []
        for nearer in (
            [one for one in found if one.owner == inside.owner and one.file == inside.file],
            [one for one in found if one.file == inside.file],
        ):
            if nearer:
                return nearer[:1]
        return found if len(found) <= CANDIDATES_MAX else []

    def evidence(self, file: str, node: ast.AST) -> Evidence:
        """The line on which something stands."""
        line = getattr(node, "lineno", 1)
        lines = self._content.get(file, b"").splitlines()
        there = lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""
        return Evidence(file=f"{self.shown}/{displayed(file)}", line=line, text=as_evidence(there))

    def why_not(self, *parts: str) -> str | None:
        """Which file of these could not be read, if one could not."""
        for name, problem in self.unreadable.items():
            if any(part in name for part in parts):
                return f"{displayed(name)} {problem.why}"
        return None


def _functions(file: str, body: Iterable[ast.stmt], owner: str | None) -> Iterator[Function]:
    """Functions and methods, also those behind an `if` or in a `try`; not those inside functions."""
    for node in body:
        if isinstance(node, AnyFunction):
            yield Function(file, owner, node)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(file, node.body, node.name)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inside = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
            yield from _functions(file, inside, owner)


def mentions(node: ast.AST, *words: str) -> bool:
    """Whether a name, attribute, parameter or text in it holds one of these words."""
    return any(word in name for name in names_of(node) for word in words)


def names_of(node: ast.AST) -> Iterator[str]:
    """Every name, attribute and short text in it, in lower case."""
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.alias(name=name):
                yield name.lower()
            case ast.Constant(value=str(text)) if text.isidentifier():
                yield text.lower()
            case _:
                pass


def called_name(node: ast.AST) -> str:
    """The last part of what a call calls; nothing if it is not a call of a name."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
        case _:
            return ""
