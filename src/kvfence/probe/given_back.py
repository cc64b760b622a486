"""What an answer is that should be a JSON object, given back exactly. Pure."""

from __future__ import annotations

import json
import re

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.coherence import drift

_THOUGHT_ENDS = "</think>"
_AROUND = re.compile(r"\d{1,2}-CODE-\d{1,2}:?|\bEND\b")
_SPACE = re.compile(r"\s+")

Said = tuple[LengthVerdict, str]


def given_back(answer: str, expected: str, *, cut: bool) -> Said:
    """What an answer is that should be this object, and why. White space is free. `cut`: it ended at its limit."""
    said = answer.rpartition(_THOUGHT_ENDS)[2]
    before, brace, rest = said.partition("{")
    inside, end, after = rest.rpartition("}")
    if off := drift(_AROUND.sub(" ", f"{before} {after if end else ''}")):
        return LengthVerdict.OFF_TOPIC, f"beside the JSON object there is {off}"
    if not brace:
        return (LengthVerdict.INCONCLUSIVE if cut else LengthVerdict.LOST), "no JSON object came back"
    text = _SPACE.sub("", f"{{{inside}}}" if end else f"{{{rest}")
    if text == expected:
        return LengthVerdict.CLEAN, ""
    if cut and expected.startswith(text):
        return LengthVerdict.INCONCLUSIVE, "the answer ended at its limit of tokens within the JSON object"
    return _of_values(text, json.loads(expected))


def _of_values(text: str, expected: dict[str, object]) -> Said:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return LengthVerdict.GARBLED, "the JSON object came back broken"
    right = sum(name in values and _same(values[name], value) for name, value in expected.items())
    said = f"{right} of {len(expected)} values of the JSON object came back"
    is_part = right == len(values) and list(values) == [name for name in expected if name in values]
    return (LengthVerdict.LOST if is_part and right < len(expected) else LengthVerdict.GARBLED), said


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
