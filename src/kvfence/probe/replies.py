"""What an endpoint says, translated once into our words. Pure: bytes in, values out; nothing here judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.findings.redact import as_evidence
from kvfence.probe.sse import KIND, ErrorEventError, joined, said_so_far

CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
"""Where endpoints say how long a context they promise: vLLM and SGLang, OpenRouter, Groq, others."""
ERROR_STATUSES = range(400, 600)
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
    served_by: tuple[str, ...] = ()
    """As whom an answer names itself that comes from the provider that was asked for; empty where nobody can say."""


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
    served_by: str | None = None
    """Which provider a router says it had the answer from."""


def model_cards(response: Response) -> list[ModelCard] | None:
    """The models of a list, or None when it is no such list."""
    body = json_object(response)
    listed = body.get("data") if body is not None else None
    if not response.is_success or not isinstance(listed, list):
        return None
    cards = [card for card in listed if isinstance(card, dict) and isinstance(card.get("id"), str)]
    return [ModelCard(card["id"], declared_in(card)) for card in cards]


def token_count(response: Response) -> int | None:
    """What `/tokenize` counted, or None when it did not: no text that is asked about has no tokens."""
    body = json_object(response)
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
    """An answer of either API, or an error in OpenAI's shape or another, also one that comes with status 200."""
    try:
        body = joined(response.content) if is_stream(response) else json_object(response)
    except ErrorEventError as error:
        return _error_with_success(error.body, _as_text(response.content))
    except (ValueError, AttributeError, TypeError) as error:
        why = f"status {response.status} with a stream that cannot be read: {error}"
        return Reply(status=None, text=_as_text(response.content), detail=why)
    if not response.is_success:
        said = error_message(body) if body is not None else response.described()
        return Reply(status=response.status, detail=said)
    return reply_without_json(response) if body is None else _of_body(body, response.status)


def _of_body(body: Mapping[str, Any], status: int) -> Reply:
    if isinstance(body.get("error"), dict) and not body.get("choices"):
        return _error_with_success(body, "")
    try:
        choice = body["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        usage = body.get("usage") or {}
        tokens, answer_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        ended = choice.get("finish_reason")
        served_by = body.get("provider")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Reply(status=None, detail=f"status {status} without an answer in OpenAI's shape")
    if isinstance(choice.get("error"), dict):
        return _error_with_success(choice, text if isinstance(text, str) else "")
    return Reply(
        status=status,
        text=text if isinstance(text, str) else "",
        prompt_tokens=tokens if isinstance(tokens, int) else None,
        finish_reason=ended if isinstance(ended, str) else None,
        answer_tokens=answer_tokens if isinstance(answer_tokens, int) else None,
        served_by=served_by if isinstance(served_by, str) else None,
    )


def reply_without_json(response: Response) -> Reply:
    """Of a success that says nothing that can be read."""
    why = f"status {response.status} with {response.described()} that is no whole JSON"
    return Reply(status=None, text=_as_text(response.content), detail=why)


def is_stream(response: Response) -> bool:
    """Whether an answer came as server-sent events."""
    return response.is_success and (response.kind == KIND or response.content.startswith(b"data:"))


def _as_text(content: bytes) -> str:
    """What can be read of an answer that is not whole. A marker may be spread over the events of a stream."""
    start = content[:PARTIAL_BYTES_MAX]
    return said_so_far(start) or start.decode(errors="replace")


def json_object(response: Response) -> dict[str, Any] | None:
    """The object that an answer is, or None."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def declared_in(card: Mapping[str, Any]) -> int | None:
    """How long a context a model's card promises."""
    places = [card.get(name) for name in CONTEXT_FIELDS]
    meta = card.get("meta")
    if isinstance(meta, dict):
        places.append(meta.get("n_ctx") or meta.get("n_ctx_train"))  # llama.cpp
    return next((place for place in places if isinstance(place, int) and place > 0), None)


def _error_with_success(body: Mapping[str, Any], text: str) -> Reply:
    """An error beside status 200, as gateways send it once a model is at work: its `code` is the status it stands for.

    Source: openrouter.ai/docs/api/reference/errors-and-debugging, "The HTTP Response will have the same status".
    """
    code = body["error"].get("code") if isinstance(body.get("error"), dict) else None
    status = code if isinstance(code, int) and code in ERROR_STATUSES else None
    return Reply(status=status, text=text, detail=f"an error with status 200: {error_message(body)}")


def error_message(body: Mapping[str, Any]) -> str:
    """What an error says, fit to be shown."""
    error = body.get("error", body)
    message = error.get("message") if isinstance(error, dict) else error
    words = [str(message or body.get("detail") or "no message"), *_of_upstream(error)]
    return as_evidence(" ".join(" ".join(words).split()))


def _of_upstream(error: object) -> list[str]:
    """What a router adds: the provider's own error, which its message often does not repeat (OpenRouter)."""
    metadata = error.get("metadata") if isinstance(error, dict) else None
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return [f"({raw})"] if isinstance(raw, str) and raw else []
