"""Does the reading side decline blocks whose time has run out?

A condition that says "expired" and ends the read is the check. One that stands behind a switch which is off by default
(read-backs of a second turn, in both directions) leaves the ordinary read from prefill as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, called_name
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, present
from kvfence.facts.source.values import Origins, has_word, switch_default
from kvfence.facts.source.vllm.block_ids import NIXL, nixl_functions
from kvfence.facts.source.vllm.lease import never_expires

_READS = "read_blocks"


def _decide(code: Code) -> Answer:
    readers = [function for function in nixl_functions(code, _READS) if _reads(function)]
    if not readers:
        return cannot_tell("no function of the connector reads a peer's blocks")
    undated = never_expires(code)
    if undated:
        return undated
    behind: Answer | None = None
    for function in readers:
        for gate in _gates(function):
            place = Place(function.file, gate)
            switch = _switched_off(code, gate.test)
            if switch is None:
                return present("blocks whose time has run out are not read", place)
            behind = absent(f"only behind {switch}, which is off unless it is set", place)
    return behind or absent("whatever its time, a block is read", _first_read(readers[0]))


def _reads(function: Function) -> bool:
    return any(_is_read(node) for node in ast.walk(function.node))


def _is_read(node: ast.AST) -> bool:
    return called_name(node).strip("_") == _READS


def _first_read(function: Function) -> Place:
    return Place(function.file, next(node for node in ast.walk(function.node) if _is_read(node)))


def _gates(function: Function) -> Iterator[ast.If]:
    for node in ast.walk(function.node):
        if isinstance(node, ast.If) and _leaves(node) and _says_expired(node.test, function):
            yield node


def _leaves(gate: ast.If) -> bool:
    return isinstance(gate.body[-1], ast.Return | ast.Raise | ast.Continue)


def _says_expired(test: ast.expr, function: Function) -> bool:
    return has_word(Origins(function.node).of(test), "expir", "deadline")


def _switched_off(code: Code, test: ast.expr) -> str | None:
    """The switch that the condition stands behind, if that is off by default."""
    if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
        return None
    for value in test.values:
        if isinstance(value, ast.Attribute) and switch_default(code, value.attr) is False:
            return value.attr
    return None


EXPIRY = Question(fix="nixl-expiry-checked", decide=_decide, needs=(NIXL,))
