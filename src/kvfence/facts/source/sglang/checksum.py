"""Does decode digest the KV that arrived and compare it with what prefill digested? Which digest, and by default?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kvfence.facts.source.flow import Place
from kvfence.facts.source.parsed_code import Code, Function, called_name
from kvfence.facts.source.question import Answer, Question, absent, cannot_tell, place_of, present
from kvfence.facts.source.values import Origins, comparisons, declared_default, has_word

_FILE = "disaggregation/decode.py"
_DIGEST = ("checksum", "digest")
_ALGORITHMS = {
    "adler32": "Adler-32",
    "crc32c": "CRC-32C",
    "crc32": "CRC-32",
    "xxh": "xxHash",
    "blake2": "BLAKE2",
    "blake3": "BLAKE3",
    "sha256": "SHA-256",
    "md5": "MD5",
}


def _decide(code: Code) -> Answer:
    functions = [function for function in code.functions if function.file.endswith(_FILE)]
    if not functions:
        return cannot_tell(f"no function of {_FILE} was read")
    for function in functions:
        place = _verifies(function)
        if place:
            return present(f"{_algorithm(code)}, {_default(code)}", place)
    return absent("no digest of what arrived is compared with prefill's", place_of(functions[0]))


def _verifies(function: Function) -> Place | None:
    """A comparison of a digest that is computed here with one that came."""
    origins = Origins(function.node)
    for comparison, sides in comparisons(function.node):
        if not isinstance(comparison.ops[0], ast.Eq | ast.NotEq):
            continue
        made_of = [origins.of(side) for side in sides]
        if all(has_word(names, *_DIGEST) for names in made_of) and any(_computed(names) for names in made_of):
            return Place(function.file, comparison)
    return None


def _computed(names: frozenset[str]) -> bool:
    return bool(names & {"compute", "update", "hexdigest", "digest"}) or has_word(names, "compute", "digest_of")


def _algorithm(code: Code) -> str:
    for word, name in _ALGORITHMS.items():
        if any(word in called for called in _digest_calls(code)):
            return name
    return "a digest whose algorithm is not in these files"


def _digest_calls(code: Code) -> Iterator[str]:
    """The calls of whatever is named for digests, inside the disaggregation folder."""
    for file, tree in code.trees_holding("checksum"):
        if "disaggregation/" not in file:
            continue
        own = has_word([file.rpartition("/")[2]], *_DIGEST)
        for node in ast.walk(tree):
            called = called_name(node).lower()
            if called and (own or has_word([called], *_DIGEST)):
                yield called


def _default(code: Code) -> str:
    for name in sorted(_settings(code)):
        default = declared_default(code, name)
        if default is not None:
            return f"{'on' if default else 'off'} by default ({name})"
    return "with a default that was not found"


def _settings(code: Code) -> set[str]:
    return {
        node.attr
        for file, tree in code.trees_holding("checksum")
        if "disaggregation/" in file
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and "checksum" in node.attr and "enable" in node.attr
    }


CHECKSUM = Question(fix="kv-checksum", decide=_decide, needs=(_FILE, "disaggregation/"))
