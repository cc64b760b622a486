"""Whether a refused request can still come to a place: the statements of a function, followed branch by branch.

A small abstract interpreter. It knows one thing about the request (the question, `asks`), follows both branches of
every other condition, goes into functions of the same tree, and notes the first place of the kind that is looked for
(`sink`).
Limits on depth and steps: what is deeper is not followed.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum

from kvfence.facts.source.answers import Truth, all_of, any_of, returned
from kvfence.facts.source.parsed_code import AnyFunction, Code, Function

CALLS_DEEP_MAX = 6
STEPS_MAX = 200_000
_BUILTINS = frozenset(dir(builtins))

Asks = Callable[[ast.expr], Truth | None]
Sink = Callable[[ast.AST], bool]


class Reach(IntEnum):
    """How sure it is that a refused request comes to a place."""

    NOT = 0
    PERHAPS = 1
    SURELY = 2


@dataclass(frozen=True, slots=True)
class Place:
    """A node in a file."""

    file: str
    node: ast.AST


@dataclass(slots=True)
class Walked:
    """What following a function showed."""

    reach: Reach = Reach.NOT
    sink: Place | None = None
    """The first of the surest."""
    gate: Place | None = None
    """The first condition that turned the request away."""
    doubt: Place | None = None
    """The first condition whose answer the code does not show."""
    returns: set[Truth] = field(default_factory=set)
    asked: bool = False


class _TooManyStepsError(Exception):
    """The code is larger than what is followed."""


class Flow:
    """One question, asked of a tree's functions."""

    def __init__(self, code: Code, asks: Asks, sink: Sink) -> None:
        self._code = code
        self._asks = asks
        self._sink = sink
        self._known: dict[Function, Walked] = {}
        self._open: list[Function] = []
        self._steps = 0

    def walk(self, function: Function) -> Walked | None:
        """Follow one function from its beginning; None if there is too much of it."""
        try:
            return self._walk(function)
        except (_TooManyStepsError, RecursionError):
            self._open.clear()
            return None

    def _walk(self, function: Function) -> Walked:
        if function in self._known:
            return self._known[function]
        if function in self._open or len(self._open) >= CALLS_DEEP_MAX:
            return Walked(returns={Truth.EITHER})
        self._open.append(function)
        found = _Path(self, function).run()
        self._open.pop()
        self._known[function] = found
        return found

    def step(self) -> None:
        """Count one statement or condition."""
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise _TooManyStepsError

    def asks(self, condition: ast.expr) -> Truth | None:
        """The question's own answer, if this is where it is asked."""
        return self._asks(condition)

    def is_sink(self, node: ast.AST) -> bool:
        """Whether this is a place of the kind that is looked for."""
        return self._sink(node)

    def called(self, call: ast.Call, inside: Function) -> list[tuple[Function, Walked]]:
        """The functions that a call may reach, each followed."""
        return [(callee, self._walk(callee)) for callee in self._code.called(call, inside)]


class _Path:
    """One function being followed."""

    def __init__(self, flow: Flow, function: Function) -> None:
        self._flow = flow
        self._function = function
        self._found = Walked()
        self._values = _assigned_once(function.node, set(function.parameters))
        self._naming: list[str] = []

    def run(self) -> Walked:
        if self._block(self._function.node.body, Reach.SURELY):
            self._found.returns.add(Truth.NO)
        if not self._found.returns:
            self._found.returns.add(Truth.EITHER)
        return self._found

    def _block(self, statements: Iterable[ast.stmt], reach: Reach) -> Reach:
        for statement in statements:
            if not reach:
                break
            self._flow.step()
            reach = self._statement(statement, reach)
        return reach

    def _statement(self, statement: ast.stmt, reach: Reach) -> Reach:  # noqa: PLR0911 — one arm for each kind of statement
        match statement:
            case ast.If():
                return self._branch(statement, reach)
            case ast.For(iter=over, body=body) | ast.AsyncFor(iter=over, body=body):
                self._look(over, reach)
                self._block(body, reach)
                return self._block(statement.orelse, reach)
            case ast.While(test=test, body=body, orelse=orelse):
                self._look(test, reach)
                self._block(body, reach)
                return self._block(orelse, reach)
            case ast.Try() | ast.TryStar():
                return self._attempt(statement, reach)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    self._look(item, reach)
                return self._block(body, reach)
            case ast.Match(subject=subject, cases=cases):
                self._look(subject, reach)
                return max([reach, *(self._block(case.body, reach) for case in cases)])
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return reach
            case ast.Assert(test=test):
                self._look(test, reach)
                return Reach.NOT if self._truth(test) is Truth.NO else reach
            case _:
                return self._simple(statement, reach)

    def _simple(self, statement: ast.stmt, reach: Reach) -> Reach:
        self._look(statement, reach)
        if isinstance(statement, ast.Return):
            self._found.returns.add(Truth.NO if statement.value is None else self._truth(statement.value))
        leaves = isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break)
        return Reach.NOT if leaves else reach

    def _branch(self, statement: ast.If, reach: Reach) -> Reach:
        self._look(statement.test, reach)
        truth = self._truth(statement.test)
        after_yes, after_no = _split(truth, reach)
        alive = [self._block(statement.body, after_yes), self._block(statement.orelse, after_no)]
        place = Place(self._function.file, statement)
        if truth is Truth.DOUBTFUL:
            self._found.doubt = self._found.doubt or place
        elif truth is not Truth.EITHER and not max(alive):
            self._found.gate = self._found.gate or place
        return max(alive)

    def _attempt(self, statement: ast.Try | ast.TryStar, reach: Reach) -> Reach:
        after = self._block(statement.orelse, self._block(statement.body, reach))
        alive = max([after, *(self._block(caught.body, reach) for caught in statement.handlers)])
        return min(alive, self._block(statement.finalbody, reach))

    def _look(self, node: ast.AST, reach: Reach) -> None:
        """Note what is done in a statement or condition, and go into what it calls."""
        for child in ast.walk(node):
            if self._flow.is_sink(child):
                self._hit(reach, Place(self._function.file, child))
            elif isinstance(child, ast.Call) and _stays(child):
                for _callee, walked in self._flow.called(child, self._function):
                    self._inherit(walked, reach)

    def _inherit(self, walked: Walked, reach: Reach) -> None:
        self._found.gate = self._found.gate or walked.gate
        self._found.doubt = self._found.doubt or walked.doubt
        if walked.reach and walked.sink:
            self._hit(min(reach, walked.reach), walked.sink)

    def _hit(self, reach: Reach, place: Place) -> None:
        if reach > self._found.reach:
            self._found.reach = reach
            self._found.sink = place

    def _truth(self, condition: ast.expr) -> Truth:  # noqa: PLR0911 — one arm for each kind of condition
        self._flow.step()
        asked = self._flow.asks(condition)
        if asked is not None:
            self._found.asked = True
            return asked
        match condition:
            case ast.Constant(value=value):
                return Truth.YES if value else Truth.NO
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._truth(operand).opposite
            case ast.BoolOp(op=ast.And(), values=values):
                return all_of((self._truth(value), self._is_own(value)) for value in values)
            case ast.BoolOp(values=values):
                return any_of([self._truth(value) for value in values])
            case ast.NamedExpr(value=value):
                return self._truth(value)
            case ast.Name(id=name):
                return self._named(name)
            case ast.Call():
                return self._call(condition)
            case _:
                return Truth.EITHER

    def _named(self, name: str) -> Truth:
        if name not in self._values or name in self._naming:
            return Truth.EITHER
        self._naming.append(name)
        truth = self._truth(self._values[name])
        self._naming.pop()
        return truth

    def _call(self, call: ast.Call) -> Truth:
        if isinstance(call.func, ast.Name) and call.func.id == "bool" and len(call.args) == 1:
            return self._truth(call.args[0])
        callees = self._flow.called(call, self._function)
        if callees:
            asked = any(walked.asked for _callee, walked in callees)
            self._found.asked = self._found.asked or asked
            return returned((truth for _callee, walked in callees for truth in walked.returns), asked=asked)
        return Truth.DOUBTFUL if self._is_foreign(call) else Truth.EITHER

    def _is_foreign(self, call: ast.Call) -> bool:
        """A function from elsewhere that is shown the request may ask anything about it."""
        if not isinstance(call.func, ast.Name) or call.func.id in _BUILTINS:
            return False
        shown = {argument.id for argument in call.args if isinstance(argument, ast.Name)}
        return bool(shown & (set(self._function.parameters) - {"self", "cls"}))

    def _is_own(self, condition: ast.expr) -> bool:
        """Whether it asks only for what the function was given, not for a setting."""
        given = set(self._function.parameters) - {"self", "cls"}
        names = {child.id for child in ast.walk(condition) if isinstance(child, ast.Name)}
        return names <= given | _BUILTINS | {call for call in names if call[:1].isupper()}


def _split(truth: Truth, reach: Reach) -> tuple[Reach, Reach]:
    match truth:
        case Truth.YES:
            return reach, Reach.NOT
        case Truth.NO:
            return Reach.NOT, reach
        case Truth.DOUBTFUL:
            return min(reach, Reach.PERHAPS), min(reach, Reach.PERHAPS)
        case Truth.EITHER:
            return reach, reach


def _stays(call: ast.Call) -> bool:
    """Whether what is called is the same object's, or a plain function: others' methods are not followed."""
    match call.func:
        case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
            return True
        case _:
            return False


def _assigned_once(node: AnyFunction, given: set[str]) -> dict[str, ast.expr]:
    """Local names with one assignment, and its value; a parameter has its caller's value as well."""
    values: dict[str, ast.expr] = {}
    stores: Counter[str] = Counter()
    for child in ast.walk(node):
        match child:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                values[name] = value
            case ast.Name(id=name, ctx=ast.Store()):
                stores[name] += 1
            case _:
                pass
    return {name: value for name, value in values.items() if stores[name] == 1 and name not in given}
