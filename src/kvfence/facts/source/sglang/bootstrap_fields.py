"""Is a bootstrap host that the client wrote into its request refused, or taken out, before it is used?

The field is part of the request's body. One value of it makes decode run over pages that nobody wrote. A check is a
condition on its value that ends the request, or an assignment that takes it out; "is it there at all?" is none.
"""

from __future__ import annotations

import ast

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, present
from kvfence.facts.source.values import comparisons, refuses

_FIELD = "bootstrap_host"
_DOORS = ("managers/io_struct.py", "managers/tokenizer_manager.py", "managers/scheduler.py", "entrypoints/")


def _decide(code: Code) -> Answer:
    field = next((place for place in _fields(code)), None)
    if field is None:
        return _without_field(code)
    for function in code.holding(_FIELD):
        if not any(door in function.file for door in _DOORS):
            continue
        for node in ast.walk(function.node):
            if _takes_out(node, function) or _checks(node, function):
                return present("a value that a client set is refused or taken out", Place(function.file, node))
    return absent("whatever value a client sets is used", field)


def _fields(code: Code) -> list[Place]:
    return [
        Place(file, node)
        for file, tree in code.trees_holding(_FIELD)
        if any(door in file for door in _DOORS)
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == _FIELD
    ]


def _without_field(code: Code) -> Answer:
    if not any("managers/io_struct.py" in name for name in code.trees):
        return cannot_tell("managers/io_struct.py was not read")
    io_struct = next(name for name in code.trees if "managers/io_struct.py" in name)
    return present("a request has no such field", Place(io_struct, code.trees[io_struct]))


def _takes_out(node: ast.AST, function: Function) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=owner), attr=attr)], value=ast.Constant(value=None | "")
        ):
            return attr == _FIELD and owner in function.parameters and owner != "self"
        case _:
            return False


def _checks(node: ast.AST, function: Function) -> bool:
    if not isinstance(node, ast.If) or not refuses(node.body):
        return False
    named = {_FIELD, *_kept_as(function)}
    for _comparison, sides in comparisons(node.test):
        about = [side for side in sides if _is_field(side, named)]
        others = [side for side in sides if side not in about]
        if about and any(not (isinstance(side, ast.Constant) and side.value is None) for side in others):
            return True
    return False


def _kept_as(function: Function) -> set[str]:
    """Local names that hold the field's value and nothing else."""
    return {
        target.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Assign) and _is_field(node.value, {_FIELD})
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_field(value: ast.expr, named: set[str]) -> bool:
    match value:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in named
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
            return name == _FIELD
        case _:
            return False


BOOTSTRAP_FIELDS = Question(
    fix="bootstrap-host-checked", decide=_decide, needs=("managers/tokenizer_manager.py", "managers/io_struct.py")
)
