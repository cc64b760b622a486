"""Talking to the endpoint over HTTP. What it says is translated here, once; nothing here judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from kvfence.errors import PeerError, TargetError, UsageError
from kvfence.probe.prompts import STOP
from kvfence.probe.target import Target, Tenant

CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
"""Where endpoints say how long a context they promise: vLLM and SGLang, OpenRouter, Groq, others."""
CONNECT_S = 10.0
DETAIL_CHARS_MAX = 300


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What `/models` says of one model."""

    name: str
    declared_context: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one prompt."""

    status: int | None
    text: str = ""
    prompt_tokens: int | None = None
    detail: str = ""


class EndpointClient:
    """One connection pool to one endpoint; a context manager."""

    def __init__(self, target: Target) -> None:
        self._target = target
        timeout = httpx.Timeout(target.timeout_s, connect=min(CONNECT_S, target.timeout_s))
        self._http = httpx.Client(timeout=timeout, follow_redirects=True)
        self._send_salt = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def models(self, tenant: Tenant) -> list[ModelCard]:
        """The models that the endpoint lists. Raises `TargetError` when it is no such endpoint."""
        url = self._target.url("models")
        try:
            response = self._http.get(url, headers=_headers(tenant))
        except httpx.HTTPError as error:
            raise TargetError(f"{url}: {_why(error, self._target)}") from error
        body = _json_object(response)
        if response.status_code in (401, 403):
            raise TargetError(
                f"{url} wants a key (status {response.status_code}); name its variable with --api-key-env"
            )
        listed = body.get("data") if body is not None else None
        if not response.is_success or not isinstance(listed, list):
            raise TargetError(
                f"{url} is not an OpenAI-compatible endpoint: status {response.status_code}, "
                f"{_kind_of(response)} instead of a list of models. The base usually ends in /v1"
            )
        cards = [card for card in listed if isinstance(card, dict) and isinstance(card.get("id"), str)]
        return [ModelCard(card["id"], _declared(card)) for card in cards]

    def count(self, model: str, prompt: str, tenant: Tenant) -> int | None:
        """Tokens of a prompt as the endpoint counts them, or None where it has no `/tokenize`."""
        said = {"prompt": prompt} if self._target.completions else {"messages": _messages(prompt)}
        for base in (self._target.root, self._target.base_url):
            try:
                response = self._http.post(f"{base}/tokenize", json={"model": model, **said}, headers=_headers(tenant))
            except httpx.HTTPError as error:
                raise PeerError(f"{base}/tokenize: {_why(error, self._target)}") from error
            body = _json_object(response)
            if response.is_success and body is not None and isinstance(body.get("count"), int):
                return int(body["count"])
        return None

    def ask(self, model: str, prompt: str, tenant: Tenant, max_tokens: int) -> Reply:
        """Send a prompt. Never raises for what the endpoint does: that is what is being measured."""
        body: dict[str, object] = {
            "model": model,
            "max_tokens": max_tokens,
            "temperature": 0,
            "stop": [STOP],
            "user": tenant.salt,
        }
        body |= {"prompt": prompt} if self._target.completions else {"messages": _messages(prompt)}
        reply = self._post(body | ({"cache_salt": tenant.salt} if self._send_salt else {}), tenant)
        if self._send_salt and reply.status in (400, 422) and "cache_salt" in reply.detail:
            self._send_salt = False  # a strict endpoint that knows no such field
            reply = self._post(body, tenant)
        return reply

    def _post(self, body: Mapping[str, object], tenant: Tenant) -> Reply:
        path = "completions" if self._target.completions else "chat/completions"
        try:
            response = self._http.post(self._target.url(path), json=body, headers=_headers(tenant))
        except httpx.HTTPError as error:
            return Reply(status=None, detail=_why(error, self._target))
        parsed = _json_object(response)
        if parsed is None:
            return Reply(status=None, detail=f"status {response.status_code} with {_kind_of(response)}")
        if not response.is_success:
            return Reply(status=response.status_code, detail=_error_message(parsed))
        try:
            choice = parsed["choices"][0]
            text = choice["text"] if self._target.completions else choice["message"]["content"]
            tokens = (parsed.get("usage") or {}).get("prompt_tokens")
        except (KeyError, IndexError, TypeError):
            return Reply(status=None, detail="status 200 without an answer in OpenAI's shape")
        return Reply(status=200, text=text or "", prompt_tokens=tokens if isinstance(tokens, int) else None)


def chosen_model(cards: list[ModelCard], wanted: str | None, target: Target) -> ModelCard:
    """The model to probe. Raises `UsageError` naming those that there are."""
    if not cards and not wanted:
        raise TargetError(f"{target.url('models')} lists no model; name one with --model")
    if wanted is None:
        return cards[0]
    for card in cards:
        if card.name == wanted:
            return card
    names = ", ".join(card.name for card in cards[:8]) or "none"
    raise UsageError(f"the endpoint has no model '{wanted}'; it lists: {names}")


def _messages(prompt: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}]


def _headers(tenant: Tenant) -> dict[str, str]:
    return {"authorization": f"Bearer {tenant.api_key}"} if tenant.api_key else {}


def _declared(card: Mapping[str, Any]) -> int | None:
    places = [card.get(name) for name in CONTEXT_FIELDS]
    meta = card.get("meta")
    if isinstance(meta, dict):
        places.append(meta.get("n_ctx") or meta.get("n_ctx_train"))  # llama.cpp
    return next((place for place in places if isinstance(place, int) and place > 0), None)


def _json_object(response: httpx.Response) -> dict[str, Any] | None:
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _kind_of(response: httpx.Response) -> str:
    kind = response.headers.get("content-type", "no content type").split(";")[0]
    return "an HTML page" if "html" in kind else f"{len(response.content)} bytes of {kind}"


def _error_message(body: Mapping[str, Any]) -> str:
    error = body.get("error", body)
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(message or body.get("detail") or "no message").split())[:DETAIL_CHARS_MAX]


def _why(error: httpx.HTTPError, target: Target) -> str:
    match error:
        case httpx.ConnectTimeout():
            return f"no connection within {min(CONNECT_S, target.timeout_s):g} s"
        case httpx.TimeoutException():
            return f"no answer within {target.timeout_s:g} s; a longer wait can be set with --timeout"
        case httpx.ConnectError():
            return "the connection was refused or the name is unknown; is the server up, and the address right?"
        case httpx.RemoteProtocolError() | httpx.ReadError():
            return "the connection was closed in the middle of an answer"
        case _:
            return f"{type(error).__name__}: {error}"
