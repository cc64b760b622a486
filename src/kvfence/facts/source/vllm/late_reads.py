"""When prefill learns that blocks were read after it had given them up, is that read made to fail?

Prefill learns it from the reader's note that it is done. A line in a log changes nothing: the answer is already on its
way to the client.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, called_name
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, place_of, present
from kvfence.facts.source.values import refuses
from kvfence.facts.source.vllm.block_ids import NIXL, nixl_functions
from kvfence.facts.source.vllm.lease import never_expires

_NOTES = "get_new_notifs"
_SENDING = ("_reqs_to_send", "_reqs_to_process")


def _decide(code: Code) -> Answer:
    listeners = [function for function in nixl_functions(code, _NOTES) if _listens(function)]
    if not listeners:
        return cannot_tell("no function of the connector takes a reader's notes")
    undated = never_expires(code)
    if undated:
        return undated
    found = [(function, branch) for function in listeners for branch in _unknown(function)]
    for function, branch in found:
        if refuses(branch.body):
            return present("a read of blocks that were given up is made to fail", Place(function.file, branch))
    if found:
        function, branch = found[0]
        return absent("a read of blocks that were given up is only written into the log", Place(function.file, branch))
    return absent("a read of blocks that were given up is not even noticed", place_of(listeners[0]))


def _listens(function: Function) -> bool:
    return any(called_name(node) == _NOTES for node in ast.walk(function.node))


def _unknown(function: Function) -> Iterator[ast.If]:
    """Branches for a note about a request that is not being sent."""
    for node in ast.walk(function.node):
        if isinstance(node, ast.If) and any(_is_not_sent(child) for child in ast.walk(node.test)):
            yield node


def _is_not_sent(node: ast.AST) -> bool:
    match node:
        case ast.Compare(ops=[ast.NotIn()], comparators=[ast.Attribute(attr=name)]):
            return name in _SENDING
        case _:
            return False


LATE_READS = Question(fix="nixl-late-read-fails", decide=_decide, needs=(NIXL,))
