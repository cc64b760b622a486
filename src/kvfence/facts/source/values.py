"""Where a value comes from inside a function, what a switch is set to by default, and whether statements refuse.

Names are followed backwards through assignments, loops and lists that are filled: more than a value is made of may come
along, never less than one function shows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from kvfence.facts.source.parsed_code import AnyFunction, Code, called_name, names_of

_REFUSING = frozenset({"abort", "reject", "refuse", "fail", "failed", "invalid", "error", "decline", "quarantine"})
_TELLING = frozenset({"error", "warning", "info", "debug", "exception", "warning_once", "critical", "log"})
_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off", ""})


class Origins:
    """What each local name of a function is made of."""

    def __init__(self, function: AnyFunction) -> None:
        self._made_of: dict[str, list[ast.AST]] = {}
        for node in ast.walk(function):
            for name, value in _bindings(node):
                self._made_of.setdefault(name, []).append(value)

    def of(self, expression: ast.AST) -> frozenset[str]:
        """Every name, attribute and word that a value is made of, in lower case."""
        seen: set[str] = set()
        waiting = [expression]
        opened: set[str] = set()
        while waiting:
            node = waiting.pop()
            seen.update(names_of(node))
            local = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
            for name in local - opened:
                opened.add(name)
                waiting.extend(self._made_of.get(name, ()))
        return frozenset(seen)


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from ((name, value) for name in _stored(target))
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield from ((name, value) for name in _stored(target))
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from ((name, value) for name in _stored(target))
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "add" | "extend"), args=args):
            yield from ((name, value) for value in args)
        case _:
            return


def _stored(target: ast.AST) -> Iterator[str]:
    for child in ast.walk(target):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id


def has_word(names: Iterable[str], *words: str) -> bool:
    """Whether one of these words is in one of the names."""
    return any(word in name for name in names for word in words)


def refuses(statements: Iterable[ast.AST]) -> bool:
    """Whether they end the request: an exception, or a call that is named so. Writing a line in a log is not that."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Raise):
                return True
            if _is_logging(node):
                continue
            words = set(called_name(node).lower().split("_"))
            if words & _REFUSING:
                return True
    return False


def _is_logging(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
            return "log" in name and attr in _TELLING
        case _:
            return False


def comparisons(node: ast.AST) -> Iterator[tuple[ast.Compare, list[ast.expr]]]:
    """Every comparison in it, with its sides."""
    for child in ast.walk(node):
        if isinstance(child, ast.Compare):
            yield child, [child.left, *child.comparators]


def switch_default(code: Code, attribute: str) -> bool | None:
    """What a yes-or-no attribute is set to, if nobody sets anything; None if it is no switch or cannot be seen.

    Followed: a constant, `envs.NAME.get()` with its declared default, and a call that is given a name and a default.
    """
    found = {
        default
        for _file, tree in code.trees_holding(attribute)
        for node in ast.walk(tree)
        for value in _set_to(node, attribute)
        if (default := _default_of(code, value)) is not None
    }
    return None if not found else all(found)


def _set_to(node: ast.AST, attribute: str) -> Iterator[ast.expr]:
    match node:
        case (
            ast.Assign(targets=[ast.Attribute(attr=name)], value=value)
            | ast.AnnAssign(target=ast.Attribute(attr=name), value=ast.expr() as value)
        ) if name == attribute:
            yield value
        case _:
            return


def _default_of(code: Code, value: ast.expr) -> bool | None:
    parts = value.values if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) else [value]
    known = [default for part in parts if (default := _one_default(code, part)) is not None]
    return all(known) if known else None


def _one_default(code: Code, value: ast.expr) -> bool | None:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr="get"), args=[]):
            return declared_default(code, name)
        case ast.Call(args=[ast.Constant(value=str()), ast.Constant(value=default), *_]):
            return _as_bool(default)
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return _one_default(code, inner)
        case _:
            return None


def declared_default(code: Code, name: str) -> bool | None:
    """The default of a declared variable or setting: `NAME = EnvBool(False)`, `NAME: … = False`."""
    for _file, tree in code.trees_holding(name):
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=here)], value=ast.Call(args=[ast.Constant(value=default), *_])):
                    if here == name:
                        return _as_bool(default)
                case ast.AnnAssign(target=ast.Name(id=here), value=ast.Constant(value=default)) if here == name:
                    return _as_bool(default)
                case _:
                    pass
    return None


def _as_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    return None
