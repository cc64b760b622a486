"""Inputs and outputs as traces keep them: the body of an API, or whatever shape an application has of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import opened, prompt_of
from kvfence.scan.formats.bodies.texts import BETWEEN, scalars
from kvfence.scan.formats.format import NOTHING, Answered, Said
from kvfence.scan.reading.decoded import NotJsonError, decoded


def free_prompt_of(value: Any) -> Said:
    """All the text of an input. One of no known shape is taken as all its keys and values, in their order."""
    value = _unquoted(value)
    said = prompt_of(value)
    return _all_of(value) if said == NOTHING else said


def free_answer_of(value: Any) -> Answered:
    """What an output says; the same."""
    value = _unquoted(value)
    answered = answer_of(value)
    return answered.saying(_all_of(value)) if answered.said == NOTHING else answered


def _unquoted(value: Any) -> Any:
    """JSON in a string opened; also a text that was written as JSON, with its quotes."""
    if isinstance(value, str) and value[:1] == value[-1:] == '"' and len(value) > 1:
        try:
            return decoded(value)
        except NotJsonError:
            return value
    return opened(value)


def _all_of(value: Any) -> Said:
    text = BETWEEN.join(scalars(value)) if isinstance(value, Mapping | list) else ""
    return Said(text) if text else NOTHING
