"""Are decode's pages kept back after a failed transfer until prefill says that its writes are over, and by default?

The shape: a list of held requests, that a failure appends to, and that a second function goes through, releasing only
what is known to be quiet (or too old). The default is that of the switches on the way from the failure to the list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, called_name
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, place_of, present
from kvfence.facts.source.values import Origins, switch_default

_FILE = "disaggregation/decode.py"
_QUIET = frozenset({"safe", "drain", "drained", "quiet", "quiescent", "ack", "acked", "acks", "settled"})


@dataclass(frozen=True, slots=True)
class _Hold:
    """The list, and the three functions around it."""

    fails: Function
    holds: Function
    resolves: Function


def _deferred(code: Code) -> Answer:
    failing = _failing(code)
    if not failing:
        return cannot_tell(f"no function in {_FILE} deals with a failed transfer")
    hold = _hold(code, failing)
    if hold is None:
        return absent(
            "pages go back at once when a transfer fails, while a write may be under way", _failure(failing[0])
        )
    return present("pages are held back until their writers are quiet", place_of(hold.resolves))


def _by_default(code: Code) -> Answer:
    failing = _failing(code)
    if not failing:
        return cannot_tell(f"no function in {_FILE} deals with a failed transfer")
    hold = _hold(code, failing)
    if hold is None:
        return absent("nothing is held back at all", _failure(failing[0]))
    switches = {name: default for name in _switches(hold) if (default := switch_default(code, name)) is not None}
    off = sorted(name for name, default in switches.items() if not default)
    if off:
        return absent(f"{off[0]} is off unless it is set", place_of(hold.fails))
    if switches:
        return present(f"{', '.join(sorted(switches))} is on unless it is unset", place_of(hold.fails))
    return present("no switch stands before it", place_of(hold.fails))


def _failing(code: Code) -> list[Function]:
    return [
        function
        for function in code.holding("Failed")
        if function.file.endswith(_FILE) and "Transfer" in (function.owner or "") and _compares_failed(function)
    ]


def _compares_failed(function: Function) -> bool:
    return any(_is_failed(node) for node in ast.walk(function.node))


def _is_failed(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Attribute(attr="Failed")]):
            return True
        case _:
            return False


def _failure(function: Function) -> Place:
    node = next(child for child in ast.walk(function.node) if _is_failed(child))
    return Place(function.file, node)


def _hold(code: Code, failing: list[Function]) -> _Hold | None:
    for fails in failing:
        own = [one for one in code.functions if one.file == fails.file and one.owner == fails.owner]
        called = {called_name(node) for node in ast.walk(fails.node)}
        for holds in [fails, *(one for one in own if one.name in called)]:
            for kept in _appended(holds):
                for resolves in own:
                    if resolves is not holds and _goes_through(resolves, kept):
                        return _Hold(fails, holds, resolves)
    return None


def _appended(function: Function) -> Iterator[str]:
    for node in ast.walk(function.node):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self"), attr=kept), attr="append")):
                yield kept
            case _:
                pass


def _goes_through(function: Function, kept: str) -> bool:
    loops = any(
        isinstance(node, ast.For | ast.comprehension) and _loads(node.iter, kept) for node in ast.walk(function.node)
    )
    asks = any(set(called_name(node).lower().split("_")) & _QUIET for node in ast.walk(function.node))
    return loops and asks


def _loads(node: ast.AST, kept: str) -> bool:
    return any(isinstance(child, ast.Attribute) and child.attr == kept for child in ast.walk(node))


def _switches(hold: _Hold) -> frozenset[str]:
    """Attributes that the conditions before the hold are made of."""
    origins = Origins(hold.fails.node)
    tests = [
        node.test
        for node in ast.walk(hold.fails.node)
        if isinstance(node, ast.If)
        and any(called_name(child) == hold.holds.name or _holds(child, hold) for child in ast.walk(node))
    ]
    names = frozenset(name for test in tests for name in origins.of(test))
    written = {child.attr for child in ast.walk(hold.fails.node) if isinstance(child, ast.Attribute)}
    return frozenset(name for name in written if name.lower() in names)


def _holds(node: ast.AST, hold: _Hold) -> bool:
    return hold.holds is hold.fails and any(kept in called_name(node) for kept in ("append",))


_NEEDS = (_FILE,)
DEFERRED_RELEASE = Question(fix="deferred-release", decide=_deferred, needs=_NEEDS)
DEFERRED_BY_DEFAULT = Question(
    fix="deferred-release-default", decide=_by_default, needs=(*_NEEDS, "environ.py", "disaggregation/common/conn.py")
)
