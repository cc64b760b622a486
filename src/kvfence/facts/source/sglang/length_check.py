"""Does decode compare what arrived with what it reserved, before it reads it?

What arrived is what decode reads from the metadata row that prefill filled. What it reserved follows from its own count
of the prompt's tokens or pages. A comparison of the two that ends the request is the check (upstream #38704).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, mentions
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, place_of, present
from kvfence.facts.source.values import Origins, comparisons, has_word, refuses

_FILE = "disaggregation/decode.py"
_ROW = "metadata_buffers"
_GET = "get_buf"
_ARRIVED = (_GET, _ROW)
_RESERVED = (
    "origin_input_ids",
    "seqlen",
    "fill_ids",
    "fill_len",
    "page_indices",
    "kv_indices",
    "num_pages",
    "page_num",
)


def _decide(code: Code) -> Answer:
    readers = [
        function
        for function in code.holding(_ROW)
        if function.file.endswith(_FILE) and any(_reads_row(node) for node in ast.walk(function.node))
    ]
    if not readers:
        return cannot_tell(f"no function in {_FILE} reads what prefill wrote into the metadata row")
    for function in readers:
        for check in _checks(function):
            return present("what arrived is compared with what was reserved", Place(function.file, check))
    return absent(
        'decode takes "done" for "all of it": nothing that arrived is compared with what was reserved',
        place_of(readers[0]),
    )


def _reads_row(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)):
            return name == _GET and mentions(owner, _ROW)
        case ast.Subscript(value=owner, ctx=ast.Load()):
            return mentions(owner, _ROW)
        case _:
            return False


def _checks(function: Function) -> Iterator[ast.If]:
    origins = Origins(function.node)
    for node in ast.walk(function.node):
        if isinstance(node, ast.If) and refuses(node.body) and _compares(node.test, origins):
            yield node


def _compares(test: ast.expr, origins: Origins) -> bool:
    for _comparison, sides in comparisons(test):
        made_of = [origins.of(side) for side in sides]
        arrived = [has_word(names, *_ARRIVED) for names in made_of]
        reserved = [has_word(names, *_RESERVED) for names in made_of]
        if any(
            one and reserved[other]
            for one_at, one in enumerate(arrived)
            for other in range(len(sides))
            if other != one_at
        ):
            return True
    return False


LENGTH_CHECK = Question(fix="decode-length-check", decide=_decide, needs=(_FILE,))
