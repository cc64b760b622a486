"""Is there a canary beside each slot, and does the engine put it in? Whether a model may use it is not asked."""

from __future__ import annotations

import ast

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, called_name
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, present

_RUNNER = "model_executor/model_runner.py"
_PACKAGE = "kv_canary"


def _decide(code: Code) -> Answer:
    runner = next((name for name in code.trees if name.endswith(_RUNNER)), None)
    if runner is None:
        return cannot_tell(f"{_RUNNER} was not read")
    for file, tree in code.trees_holding(_PACKAGE):
        brought = _brought(tree)
        for node in ast.walk(tree):
            if called_name(node) in brought and "canary" in called_name(node):
                return present("the engine installs it; off unless --kv-canary is set", Place(file, node))
    return absent("no file installs a canary", Place(runner, code.trees[runner]))


def _brought(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and _PACKAGE in (node.module or "")
        for alias in node.names
    )


CANARY = Question(fix="kv-canary", decide=_decide, needs=(_RUNNER,))
