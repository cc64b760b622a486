"""Is a refused request turned away where a role takes requests in, before anything is set up for it?

Prefill: the class that makes senders; decode: the class that makes receivers. Its `add` is the door. A gate may stand
in the door, in what the door calls, or before every call of the door.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Flow, Reach, Sink
from kvfence.facts.source.parsed_code import Code, Function, called_name
from kvfence.facts.source.question import Answer, Question, cannot_tell, turned_away
from kvfence.facts.source.sglang.refusal import asks_refused, verdict_attributes
from kvfence.findings.source_tree import Presence

_TAKES = frozenset({"append", "appendleft", "put", "push"})
_DOOR = "add"
_CALLED = frozenset({"add", "extend"})


def _prefill(code: Code) -> Answer:
    return _decide(code, "sender", "disaggregation/prefill.py")


def _decode(code: Code) -> Answer:
    return _decide(code, "receiver", "disaggregation/decode.py")


def _decide(code: Code, made: str, file: str) -> Answer:
    doors = [door for door in code.named(_DOOR) if door.file.endswith(file) and _makes(code, door, made)]
    if not doors:
        return cannot_tell(f"no class in {file} takes requests in and makes a {made}")
    attributes = verdict_attributes(code)
    if not attributes:
        return cannot_tell("how a refused request is marked was not found")
    asks = asks_refused(attributes)
    here = turned_away(
        Flow(code, asks, _set_up(made)),
        doors,
        gated="a refused request leaves here before anything is set up for it",
        open_="a refused request is set up like any other",
    )
    if here.presence is not Presence.ABSENT:
        return here
    outside = list(_callers(code, {door.owner for door in doors if door.owner}))
    if not outside:
        return here
    before = turned_away(
        Flow(code, asks, _called_on(_queue_names(code, {door.owner for door in doors if door.owner}))),
        outside,
        gated="a refused request leaves here, before every call of the door",
        open_="",
    )
    return before if before.presence is Presence.PRESENT else here


def _makes(code: Code, door: Function, made: str) -> bool:
    walked = Flow(code, lambda _condition: None, _maker(made)).walk(door)
    return walked is not None and walked.reach is not Reach.NOT


def _maker(made: str) -> Sink:
    def sink(node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()):
                return made in name.lower()
            case ast.Call(func=ast.Name(id=name)):
                return made in name.lower()
            case _:
                return False

    return sink


def _set_up(made: str) -> Sink:
    makes = _maker(made)

    def sink(node: ast.AST) -> bool:
        return makes(node) or _takes_in(node)

    return sink


def _takes_in(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")), attr=name)):
            return name in _TAKES
        case _:
            return False


def _queue_names(code: Code, classes: set[str]) -> frozenset[str]:
    """The attributes that hold an object of one of these classes."""
    return frozenset(
        target.attr
        for owner in classes
        for _file, tree in code.trees_holding(owner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and called_name(node.value) in classes
        for target in node.targets
        if isinstance(target, ast.Attribute)
    )


def _called_on(queues: frozenset[str]) -> Sink:
    def sink(node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=queue), attr=name)):
                return queue in queues and name in _CALLED
            case _:
                return False

    return sink


def _callers(code: Code, classes: set[str]) -> Iterator[Function]:
    """The scheduler's functions that call the door; retries inside the disaggregation folder were admitted before."""
    queues = _queue_names(code, classes)
    calls = _called_on(queues)
    for function in (function for queue in queues for function in code.holding(queue)):
        if "/managers/" in f"/{function.file}" and any(calls(node) for node in ast.walk(function.node)):
            yield function


_NEEDS = ("managers/schedule_batch.py", "managers/scheduler.py", "disaggregation/utils.py")
PREFILL_DOOR = Question(fix="prefill-door", decide=_prefill, needs=("disaggregation/prefill.py", *_NEEDS))
DECODE_DOOR = Question(fix="decode-door", decide=_decode, needs=("disaggregation/decode.py", *_NEEDS))
