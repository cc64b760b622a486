"""Which of an application's calls can carry a marker, and the same call with one. Pure; the caller's own is unchanged.

A call is left alone unless every parameter is known to go with one more line in the answer: tools, JSON, several
answers, log-probabilities, stop texts, a seed and a prefilled answer do not, and neither does what is new to us.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.probe.canaries.places import gap
from kvfence.probe.canaries.wording import ANSWER_TOKENS, ASK, carrier

HARMLESS = frozenset(
    {
        *("messages", "model", "stream", "stream_options", "temperature", "top_p"),
        *("max_tokens", "max_completion_tokens", "user", "timeout", "extra_headers"),
        *("extra_query", "frequency_penalty", "presence_penalty", "metadata"),
        *("service_tier", "store", "reasoning_effort", "verbosity", "safety_identifier", "prompt_cache_key"),
    }
)
"""Parameters of `chat.completions.create` that a marker goes with."""
LIMITS = ("max_tokens", "max_completion_tokens")
SHORTEST_ANSWER_TOKENS = 256
"""A call that allows a shorter answer is left alone: the marker would be a good part of it."""
_CARRIERS = ("system", "developer", "user")


def can_carry(call: Mapping[str, Any]) -> bool:
    """Whether a marker breaks nothing in this call."""
    said = {name: value for name, value in call.items() if not _is_unsaid(value)}
    if not HARMLESS.issuperset(said.keys() - ({"n"} if said.get("n") == 1 else set())):
        return False
    if any(said.get(name, SHORTEST_ANSWER_TOKENS) < SHORTEST_ANSWER_TOKENS for name in LIMITS):
        return False
    messages = said.get("messages")
    if not isinstance(messages, list) or not messages or not isinstance(messages[-1], dict):
        return False
    return messages[-1].get("role") == "user" and any(True for _ in _texts(messages[-1:]))


def planted(call: Mapping[str, Any], marker: str, depth: float) -> dict[str, Any]:
    """The call with the marker in its longest text, the ask at its end, and room in the answer."""
    messages = [_copied(message) for message in call["messages"]]
    longest = max(_texts(messages), key=lambda place: len(place[0][place[1]]))
    _put(longest, gap(_text(longest), depth).fill(_text(longest), carrier(marker)))
    last = list(_texts(messages[-1:]))[-1]
    _put(last, _text(last) + ASK)
    roomier = {name: call[name] + ANSWER_TOKENS for name in LIMITS if not _is_unsaid(call.get(name))}
    return {**call, **roomier, "messages": messages}


def prompt_of(call: Mapping[str, Any]) -> str:
    """All text of a call's messages, whoever's."""
    messages = call.get("messages")
    contents = [
        message.get("content") if isinstance(message, dict) else getattr(message, "content", None)
        for message in messages or ()
    ]
    parts = (part for content in contents for part in (content if isinstance(content, list) else [content]))
    return "\n".join(str(part.get("text", "") if isinstance(part, dict) else part or "") for part in parts)


_Place = tuple[dict[str, Any], str]
"""A text in a call: what it is in, and under which name."""


def _texts(messages: list[Any]) -> Iterator[_Place]:
    """Every text of messages that the model is asked with, in order. An earlier answer may be the client's object."""
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in _CARRIERS:
            continue
        content = message.get("content")
        if isinstance(content, str):
            yield message, "content"
        elif isinstance(content, list):
            parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
            yield from ((part, "text") for part in parts if isinstance(part.get("text"), str))


def _text(place: _Place) -> str:
    return str(place[0][place[1]])


def _put(place: _Place, text: str) -> None:
    place[0][place[1]] = text


def _copied(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    return {**message, "content": [dict(part) if isinstance(part, dict) else part for part in content]}


def _is_unsaid(value: object) -> bool:
    """None, or one of the client's own signs for a parameter that is not given."""
    return value is None or type(value).__name__ in ("NotGiven", "Omit")
