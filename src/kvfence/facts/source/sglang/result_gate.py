"""Does prefill ask "refused?", before it sends what it computed for a request?

The door's second chance: what came in all the same is computed, and must not be sent. The function that takes a
batch's result is followed to the first place where a sender sends.
"""

from __future__ import annotations

import ast

from kvfence.facts.source.flow import Flow, Reach
from kvfence.facts.source.parsed_code import Code, Function
from kvfence.facts.source.question import Answer, Question, cannot_tell, turned_away
from kvfence.facts.source.sglang.refusal import asks_refused, verdict_attributes

_FILE = "disaggregation/prefill.py"
_LAST = "last_chunk"


def _decide(code: Code) -> Answer:
    takers = [function for function in code.functions if function.file.endswith(_FILE) and _takes_result(function)]
    takers = [function for function in takers if _comes_to_send(code, function)]
    if not takers:
        return cannot_tell(f"no function in {_FILE} takes a batch's result and sends it")
    attributes = verdict_attributes(code)
    if not attributes:
        return cannot_tell("how a refused request is marked was not found")
    return turned_away(
        Flow(code, asks_refused(attributes), _sends),
        takers,
        gated="what was computed for a refused request is not sent",
        open_="what was computed for a refused request's placeholder is sent as if it were the prompt",
    )


def _takes_result(function: Function) -> bool:
    return "result" in function.parameters and "batch" in function.parameters


def _comes_to_send(code: Code, function: Function) -> bool:
    walked = Flow(code, lambda _condition: None, _sends).walk(function)
    return walked is not None and walked.reach is not Reach.NOT


def _sends(node: ast.AST) -> bool:
    """A sender's `send`, or a call that is known to send the last piece; a placeholder is always its own last piece."""
    match node:
        case ast.Call(func=ast.Attribute(value=sender, attr="send")):
            return any("sender" in name for name in _parts(sender))
        case _:
            return False


def _parts(node: ast.expr) -> list[str]:
    match node:
        case ast.Attribute(value=value, attr=name):
            return [*_parts(value), name]
        case ast.Name(id=name):
            return [name]
        case _:
            return []


RESULT_GATE = Question(
    fix="prefill-result-gate",
    decide=_decide,
    needs=(_FILE, "disaggregation/utils.py", "managers/schedule_batch.py"),
)
