"""Is the time of blocks that wait to be read prolonged while decode says that it still wants them?

The dates are in one table. A renewal looks a request up in it and writes a later date there; a table that is written
once, when prefill ends, has a fixed end, and decode's queue may be longer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, names_of
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, place_of, present
from kvfence.facts.source.values import Origins, has_word
from kvfence.facts.source.vllm.block_ids import NIXL, nixl_functions

_TABLE = "_reqs_to_send"
_CLOCKS = frozenset({"perf_counter", "monotonic", "time"})


_DATED = ("expir", "kv_lease", "deadline", "request_timeout")


@dataclass(frozen=True, slots=True)
class _Write:
    """Where a date is written, and what it is made of."""

    node: ast.AST
    value: ast.expr


def _decide(code: Code) -> Answer:
    written = [(function, node) for function in nixl_functions(code, _TABLE) for node in _writes(function)]
    if not written:
        return _without_table(code)
    for function, write in written:
        if _looks_up(function) and Origins(function.node).of(write.value) & _CLOCKS:
            return present("a reader that waits has its blocks kept for longer", Place(function.file, write.node))
    function, write = written[0]
    return absent("blocks have one date, however long decode waits", Place(function.file, write.node))


def _without_table(code: Code) -> Answer:
    """Before there were dates, blocks were kept until they were read."""
    for function in nixl_functions(code):
        if has_word(names_of(function.node), *_DATED):
            return cannot_tell("blocks have a date, and no table of it was found", place_of(function))
    undated = never_expires(code)
    return undated or cannot_tell("no file of the connector takes block ids from a request")


def never_expires(code: Code) -> Answer | None:
    """The answer to every question about expiry where blocks are kept until they are read; None where they expire."""
    functions = list(nixl_functions(code))
    dated = any(has_word(names_of(function.node), _TABLE, *_DATED) for function in functions)
    reads = next(iter(nixl_functions(code, "remote_block_ids")), None)
    if dated or reads is None:
        return None
    return present("blocks have no date: they are kept until they are read", place_of(reads))


def _writes(function: Function) -> Iterator[_Write]:
    for node in ast.walk(function.node):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(attr=name))], value=value) if name == _TABLE:
                yield _Write(node, value)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr="update"), args=[value]):
                if name == _TABLE:
                    yield _Write(node, value)
            case _:
                pass


def _looks_up(function: Function) -> bool:
    for node in ast.walk(function.node):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr="get")) if name == _TABLE:
                return True
            case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Load()) if name == _TABLE:
                return True
            case ast.Compare(ops=[ast.In()], comparators=[ast.Attribute(attr=name)]) if name == _TABLE:
                return True
            case _:
                pass
    return False


LEASE = Question(fix="nixl-lease-renewed", decide=_decide, needs=(NIXL,))
