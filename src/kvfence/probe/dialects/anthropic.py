"""Anthropic's Messages API, which others offer as well.

Sources, read in version 2.16 of Anthropic's own client: headers and paths in `_client.py` and `resources/`, fields in
`types/`; platform.claude.com/docs/en/api/messages and /errors. Prompt tokens are three figures added up, for what was
cached is not in the first. No temperature is sent: models since Opus 4.7 refuse it with a 400 ("`temperature` is
deprecated for this model", github.com/The-PR-Agent/pr-agent#2456), and the client has no such field any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from kvfence.probe.dialects.dialect import Ask, Body, CountForm, Fields
from kvfence.probe.dialects.openai import messages
from kvfence.probe.prompts import STOP
from kvfence.probe.replies import (
    ModelCard,
    Reply,
    Response,
    declared_in,
    error_message,
    is_stream,
    json_object,
    model_cards,
    reply_without_json,
)
from kvfence.probe.sse import events, said_so_far

VERSION = "2023-06-01"
USER = "metadata.user_id"
PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
ENDED = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "model_context_window_exceeded": "length"}
"""Why an answer ended, in OpenAI's words."""
REFUSAL = "refusal"
STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error in the middle of a stream would have been before its start."""


@dataclass(frozen=True, slots=True)
class Messages:
    """The API under a base such as https://api.anthropic.com/v1."""

    @property
    def described(self) -> str:
        """Whoever's it is."""
        return "an Anthropic Messages endpoint"

    @property
    def counted_by(self) -> str:
        """See `count_forms`."""
        return "the endpoint's /messages/count_tokens"

    @property
    def needs_card(self) -> bool:
        """Nothing but the context is said there."""
        return False

    @property
    def tenant_fields(self) -> tuple[Fields, ...]:
        """An opaque identifier of a user; there is no salt."""
        return ((USER,), ())

    @property
    def stream_usage(self) -> Body:
        """It comes unasked, at a stream's start and end."""
        return {}

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The key, where there is one, and the version of the API."""
        return {"anthropic-version": VERSION, **({"x-api-key": api_key} if api_key else {})}

    def models_path(self, model: str | None) -> str:
        """One model, for a list may have its dated name where it is asked for by another."""
        return f"models/{quote(model, safe='')}" if model else "models"

    def model_cards(self, response: Response, model: str | None) -> list[ModelCard] | None:
        """`max_input_tokens` is the context; one that is not said is not known."""
        body = json_object(response)
        if response.is_success and model and body is not None and body.get("type") == "model":
            return [ModelCard(model, declared_in(body))]
        return model_cards(response)

    def request(self, ask: Ask) -> tuple[str, Body]:
        """As plain as it can be."""
        limit = {"max_tokens": ask.answer_tokens_max, "stop_sequences": [STOP]}
        return "messages", {"model": ask.model, **limit, "messages": messages(ask.prompt)}

    def telling_apart(self, fields: Fields, salt: str) -> Body:
        """In its one field."""
        return {"metadata": {"user_id": salt}} if USER in fields else {}

    def reply(self, response: Response) -> Reply:
        """A message or an error."""
        if is_stream(response):
            return _of_stream(response)
        body = json_object(response)
        if not response.is_success:
            said = error_message(body) if body is not None else response.described()
            return Reply(status=response.status, detail=said)
        if body is None:
            return reply_without_json(response)
        if body.get("type") == "error":
            return _of_error(body, "")
        return _of_message(body, response.status)

    def count_forms(self, base_url: str) -> tuple[CountForm, ...]:
        """Free of charge, with a limit of its own on how often."""
        return (CountForm(f"{base_url}/messages/count_tokens", "messages"),)

    def count_request(self, form: str, model: str, prompt: str) -> Body:
        """In its one form."""
        return {"model": model, form: messages(prompt)}

    def token_count(self, response: Response) -> int | None:
        """Of a whole request, with what the template adds."""
        body = json_object(response)
        count = body.get("input_tokens") if body is not None and response.is_success else None
        return count if isinstance(count, int) and count > 0 else None


def _of_message(body: Mapping[str, Any], status: int) -> Reply:
    blocks = body.get("content")
    if not isinstance(blocks, list):
        return Reply(status=None, detail=f"status {status} without a message in Anthropic's shape")
    text = "".join(_texts(blocks))
    usage = body.get("usage")
    return _ended(text, usage if isinstance(usage, dict) else {}, body.get("stop_reason"), status)


def _ended(text: str, usage: Mapping[str, Any], reason: object, status: int) -> Reply:
    counts = [usage.get(name) for name in PROMPT_TOKENS]
    answer_tokens = usage.get("output_tokens")
    if reason == REFUSAL:
        why = "the model declined to answer (stop_reason refusal), which says nothing of its server"
        return Reply(status=None, text=text, detail=why)
    return Reply(
        status=status,
        text=text,
        prompt_tokens=sum(count for count in counts if isinstance(count, int)) if isinstance(counts[0], int) else None,
        finish_reason=ENDED.get(reason, reason) if isinstance(reason, str) else None,
        answer_tokens=answer_tokens if isinstance(answer_tokens, int) else None,
    )


def _texts(blocks: Iterable[object]) -> Iterable[str]:
    """Of the blocks that are the answer; others are thoughts or calls of tools."""
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _of_error(body: Mapping[str, Any], text: str) -> Reply:
    error = body.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    status = STATUSES.get(kind) if isinstance(kind, str) else None
    return Reply(status=status, text=text, detail=f"an error with status 200: {error_message(body)}")


def _of_stream(response: Response) -> Reply:
    """Usage comes in two parts, the later one cumulative; the end is said by an event of its own."""
    usage: dict[str, Any] = {}
    reason: object = None
    is_over = False
    said = said_so_far(response.content)
    try:
        for event in events(response.content):
            body = json.loads(event)
            match body.get("type"):
                case "error":
                    return _of_error(body, said)
                case "message_start":
                    usage |= body["message"].get("usage") or {}
                case "message_delta":
                    usage |= {name: count for name, count in (body.get("usage") or {}).items() if count is not None}
                    reason = body["delta"].get("stop_reason") or reason
                case "message_stop":
                    is_over = True
                case _:
                    pass
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        why = f"status {response.status} with a stream that cannot be read: {error}"
        return Reply(status=None, text=said, detail=why)
    if not is_over and reason is None:
        return Reply(status=None, text=said, detail=f"status {response.status} with a stream that ended in the middle")
    return _ended(said, usage, reason, response.status)


MESSAGES = Messages()
