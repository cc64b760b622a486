"""What an endpoint says, translated once into our words. Pure: bytes in, values out; nothing here judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.findings.redact import as_evidence
from kvfence.probe.sse import KIND, joined, said_so_far

CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
"""Where endpoints say how long a context they promise: vLLM and SGLang, OpenRouter, Groq, others."""
PARTIAL_BYTES_MAX = 2**16
"""Of an answer that is not whole: many times what an answer with 64 markers has."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whole."""

    status: int
    kind: str
    """Its content type, without parameters."""
    content: bytes
    retry_after_s: float | None = None

    @property
    def is_success(self) -> bool:
        """A 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004 — HTTP's successes

    def described(self) -> str:
        """Its kind and size, in words."""
        return "an HTML page" if "html" in self.kind else f"{len(self.content)} bytes of {self.kind}"


@dataclass(frozen=True, slots=True)
class Failure:
    """Nothing came back whole, and why, in words."""

    why: str
    content: bytes = b""
    """What came before it ended; somebody else's text in it is a leak all the same."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What `/models` says of one model."""

    name: str
    declared_context: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one prompt."""

    status: int | None
    """None when there was no answer, or none that can be read."""
    text: str = ""
    prompt_tokens: int | None = None
    finish_reason: str | None = None
    """Why the answer ended, in OpenAI's words, which SGLang, vLLM and llama.cpp share: `stop`, `length`."""
    answer_tokens: int | None = None
    detail: str = ""
    """The endpoint's own error message, redacted, or what went wrong on the way."""


def model_cards(response: Response) -> list[ModelCard] | None:
    """The models of a list, or None when it is no such list."""
    body = _object(response)
    listed = body.get("data") if body is not None else None
    if not response.is_success or not isinstance(listed, list):
        return None
    cards = [card for card in listed if isinstance(card, dict) and isinstance(card.get("id"), str)]
    return [ModelCard(card["id"], _declared(card)) for card in cards]


def token_count(response: Response) -> int | None:
    """What `/tokenize` counted, or None when it did not: no text that is asked about has no tokens."""
    body = _object(response)
    if body is None or not response.is_success:
        return None
    count, tokens = body.get("count"), body.get("tokens")
    if count is None and isinstance(tokens, list):
        count = len(tokens)  # llama.cpp
    return count if isinstance(count, int) and count > 0 else None


def reply_of_failure(failure: Failure) -> Reply:
    """What came before it ended, and why it did."""
    return Reply(status=None, text=_as_text(failure.content), detail=failure.why)


def reply_of(response: Response) -> Reply:
    """An answer of either API, or an error in OpenAI's shape or another."""
    try:
        body = joined(response.content) if _is_stream(response) else _object(response)
    except (ValueError, AttributeError, TypeError) as error:
        why = f"status {response.status} with a stream that cannot be read: {error}"
        return Reply(status=None, text=_as_text(response.content), detail=why)
    if not response.is_success:
        said = _error_message(body) if body is not None else response.described()
        return Reply(status=response.status, detail=said)
    if body is None:
        why = f"status {response.status} with {response.described()} that is no whole JSON"
        return Reply(status=None, text=_as_text(response.content), detail=why)
    try:
        choice = body["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        usage = body.get("usage") or {}
        tokens, answer_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        ended = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Reply(status=None, detail=f"status {response.status} without an answer in OpenAI's shape")
    return Reply(
        status=response.status,
        text=text if isinstance(text, str) else "",
        prompt_tokens=tokens if isinstance(tokens, int) else None,
        finish_reason=ended if isinstance(ended, str) else None,
        answer_tokens=answer_tokens if isinstance(answer_tokens, int) else None,
    )


def _is_stream(response: Response) -> bool:
    return response.is_success and (response.kind == KIND or response.content.startswith(b"data:"))


def _as_text(content: bytes) -> str:
    """What can be read of an answer that is not whole. A marker may be spread over the events of a stream."""
    start = content[:PARTIAL_BYTES_MAX]
    return said_so_far(start) or start.decode(errors="replace")


def _object(response: Response) -> dict[str, Any] | None:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _declared(card: Mapping[str, Any]) -> int | None:
    places = [card.get(name) for name in CONTEXT_FIELDS]
    meta = card.get("meta")
    if isinstance(meta, dict):
        places.append(meta.get("n_ctx") or meta.get("n_ctx_train"))  # llama.cpp
    return next((place for place in places if isinstance(place, int) and place > 0), None)


def _error_message(body: Mapping[str, Any]) -> str:
    error = body.get("error", body)
    message = error.get("message") if isinstance(error, dict) else error
    return as_evidence(" ".join(str(message or body.get("detail") or "no message").split()))
