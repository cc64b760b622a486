"""Is a prompt that is too long refused without becoming a placeholder that runs on?

The scheduler's intake asks for the length once or twice (`validate_input_length`, or against its own limit). What
stands behind a "too long" must leave without a queue. It is looked at on its own: other refusals are other questions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, called_name
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, present

_FILE = "managers/scheduler.py"
_LIMIT = "max_req_input_len"
_VALIDATE = "validate_input_length"


def _decide(code: Code) -> Answer:
    found = [
        (function, gate)
        for function in code.functions
        if function.file.endswith(_FILE) and "generate" in function.name
        for gate in _too_long(function)
    ]
    if not found:
        return cannot_tell(f"no function in {_FILE} takes prompts in and compares their length with its limit")
    for function, gate in found:
        if _comes_to_queue(gate) or not _leaves(gate):
            return absent("a prompt that is too long goes on as something shorter", Place(function.file, gate))
    function, gate = found[0]
    return present("a prompt that is too long leaves here, and comes into no queue", Place(function.file, gate))


def _too_long(function: Function) -> Iterator[ast.If]:
    """The conditions that a prompt which is too long fulfils."""
    for node in ast.walk(function.node):
        for field in ("body", "orelse", "finalbody"):
            yield from _among(getattr(node, field, None))


def _among(block: object) -> Iterator[ast.If]:
    if not isinstance(block, list):
        return
    answer = ""
    for statement in block:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if called_name(value) == _VALIDATE:
                answer = name
            case ast.If(test=test) if _says_too_long(test, answer):
                yield statement
            case _:
                pass


def _says_too_long(test: ast.expr, answer: str) -> bool:
    for node in ast.walk(test):
        match node:
            case ast.Name(id=name) if answer and name == answer:
                return True
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[ast.Attribute(attr=limit)]):
                if limit == _LIMIT and called_name(left) == "len":
                    return True
            case ast.Call() if called_name(node) == _VALIDATE:
                return True
            case _:
                pass
    return False


def _comes_to_queue(gate: ast.If) -> bool:
    calls = [called_name(node) for statement in gate.body for node in ast.walk(statement)]
    return any("queue" in name or name == "append" for name in calls)


def _leaves(gate: ast.If) -> bool:
    return isinstance(gate.body[-1], ast.Return | ast.Raise)


PLACEHOLDER = Question(fix="no-placeholder", decide=_decide, needs=(_FILE,))
