"""How this tree marks a refused request: the attribute that is set where its prompt is swapped for a placeholder.

The name differs by version (`finished_reason`, later `to_finish`), and that is the incident: a gate that reads another
attribute than the one that was written asks another question. So it is read from the code, and never assumed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.answers import Truth
from kvfence.facts.source.flow import Asks, Place
from kvfence.facts.source.parsed_code import AnyFunction, Code, Function, called_name

_PROMPT = "origin_input_ids"
_REFUSAL = "FINISH_ABORT"


def placeholders(code: Code) -> Iterator[tuple[Function, Place]]:
    """Every place where a prompt is replaced by one made-up token."""
    for function in code.holding(_PROMPT, _REFUSAL):
        for node in ast.walk(function.node):
            if isinstance(node, ast.Assign) and _swaps_prompt(node):
                yield function, Place(function.file, node)


def verdict_attributes(code: Code) -> frozenset[str]:
    """The attributes that hold the refusal of a request whose prompt was swapped."""
    functions = {function for function, _place in placeholders(code)}
    return frozenset(name for function in functions for name in _marked(function.node))


def asks_refused(attributes: frozenset[str]) -> Asks:
    """The question "was this request refused?", in the forms in which code asks it."""

    def asks(condition: ast.expr) -> Truth | None:
        match condition:
            case ast.Attribute(attr=name) if name in attributes:
                return Truth.YES
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]) if (
                name in attributes
            ):
                return Truth.YES
            case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kinds]) if asks(subject) is Truth.YES:
                return Truth.YES if _REFUSAL in set(_names(kinds)) else Truth.EITHER
            case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]) if asks(left) is Truth.YES:
                return Truth.NO if isinstance(op, ast.Is | ast.Eq) else Truth.YES
            case _:
                return None

    return asks


def _names(node: ast.expr) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def _marked(function: AnyFunction) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=value) if called_name(value) == _REFUSAL:
                yield name
            case _:
                pass


def _swaps_prompt(node: ast.Assign) -> bool:
    match node:
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=value) if name == _PROMPT:
            return any(_one_made_up(child) for child in ast.walk(value))
        case _:
            return False


def _one_made_up(node: ast.AST) -> bool:
    match node:
        case ast.List(elts=[ast.Constant(value=int())]):
            return True
        case _:
            return False
