"""Are block ids that came with a request checked before they are read, so that a bad one ends one request?

They come from the request's body. A check is a condition on them that ends the request. An assertion is none: a failed
one ends the engine, and every request on it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, names_of
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, present
from kvfence.facts.source.values import Origins, comparisons, has_word, refuses

NIXL = "nixl"
_IDS = "remote_block_ids"


def _decide(code: Code) -> Answer:
    taken = next(_taken(code), None)
    if taken is None:
        return cannot_tell("no file of the connector takes block ids from a request")
    for function in nixl_functions(code):
        for node in ast.walk(function.node):
            if isinstance(node, ast.If) and refuses(node.body) and _is_about_ids(node.test, function):
                return present(
                    "block ids that do not fit end the request that brought them", Place(function.file, node)
                )
    asserted = next(_asserted(code), None)
    if asserted:
        return absent("block ids are used as they came; too few end the engine by an assertion", asserted)
    return absent("block ids are used as they came", taken)


def nixl_functions(code: Code, *words: str) -> Iterator[Function]:
    """The connector's functions, in files that hold these words."""
    return (function for function in code.holding(*words) if NIXL in function.file)


def _taken(code: Code) -> Iterator[Place]:
    for function in nixl_functions(code, _IDS):
        for node in ast.walk(function.node):
            match node:
                case ast.Subscript(slice=ast.Constant(value=name)) if name == _IDS:
                    yield Place(function.file, node)
                case _:
                    pass


def _is_about_ids(test: ast.expr, function: Function) -> bool:
    """A comparison whose one side is made of the ids, or of a loop over them."""
    origins = Origins(function.node)
    return any(
        any(_is_ids(side, origins) for side in sides) and not any(_is_nothing(side) for side in sides)
        for _comparison, sides in comparisons(test)
    )


def _is_ids(side: ast.expr, origins: Origins) -> bool:
    if not has_word(names_of(side), "block", "ids"):
        return False
    made_of = origins.of(side)
    return _IDS in made_of or {"remote", "block_ids"} <= made_of


def _is_nothing(side: ast.expr) -> bool:
    return isinstance(side, ast.Constant) and side.value in (None, 0)


def _asserted(code: Code) -> Iterator[Place]:
    for function in nixl_functions(code, "assert"):
        origins = Origins(function.node)
        for node in ast.walk(function.node):
            if isinstance(node, ast.Assert) and _counts_blocks(node.test, origins):
                yield Place(function.file, node)


def _counts_blocks(test: ast.expr, origins: Origins) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.LtE() | ast.GtE()], comparators=[right]):
            sides = [origins.of(left), origins.of(right)]
            return all("len" in names for names in sides) and any(
                has_word(names, "remote_block_ids", "prefill_block_ids") for names in sides
            )
        case _:
            return False


BLOCK_IDS = Question(fix="nixl-block-ids-checked", decide=_decide, needs=(NIXL,))
