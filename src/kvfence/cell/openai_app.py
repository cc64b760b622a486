"""The HTTP face: OpenAI's API over an `Engine`. It parses, passes on and formats; it decides nothing about pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from typing import TypeVar

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from kvfence.cell.asks import Answer, Ask, Engine, Faulted, Finished, Piece, Refused
from kvfence.cell.openai_errors import ApiError, fault, refusal
from kvfence.cell.openai_metrics import SampleCollector
from kvfence.cell.openai_replies import Kind, Reply
from kvfence.cell.openai_requests import ChatRequest, CompletionRequest, TokenizeRequest, as_ask, parsed

BODY_BYTES_MAX = 64 << 20
"""A million tokens of JSON-escaped text is a few MB; this is ten times as much."""
TOKENIZE_BYTES_MAX = 8 << 20
"""Eight times the longest context that is served; its answer has four bytes a token."""
CLIENT_CLOSED = 499
"""nginx's status for a client that went away; nobody sees it but logs."""


def build_app(engine: Engine) -> Starlette:
    """The face of `engine`."""
    face = _Face(engine)
    routes = [
        Route("/v1/models", face.models),
        Route("/v1/chat/completions", face.chat, methods=["POST"]),
        Route("/v1/completions", face.completions, methods=["POST"]),
        Route("/tokenize", face.tokenize, methods=["POST"]),
        Route("/v1/tokenize", face.tokenize, methods=["POST"]),
        Route("/health", face.health),
        Route("/metrics", face.metrics),
    ]
    answers = {HTTPException: _http_error, ApiError: _api_error, Exception: _unforeseen}
    return Starlette(routes=routes, exception_handlers=answers)


class _Face:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._registry = CollectorRegistry()
        self._registry.register(SampleCollector(engine))

    async def models(self, _request: Request) -> Response:
        card = {
            "id": self._engine.model,
            "object": "model",
            "created": 0,
            "owned_by": "kvfence",
            "max_model_len": self._engine.usable_tokens,
        }
        return JSONResponse({"object": "list", "data": [card]})

    async def chat(self, request: Request) -> Response:
        body = parsed(await _body(request), ChatRequest)
        ask = as_ask(body, self._engine, _api_key(request))
        return await self._answer(request, ask, "chat", body)

    async def completions(self, request: Request) -> Response:
        body = parsed(await _body(request), CompletionRequest)
        ask = as_ask(body, self._engine, _api_key(request))
        return await self._answer(request, ask, "completion", body)

    async def tokenize(self, request: Request) -> Response:
        body = await _body(request, TOKENIZE_BYTES_MAX)
        content = await asyncio.to_thread(_tokenized, body, self._engine.usable_tokens)
        return Response(content, media_type="application/json")

    async def health(self, _request: Request) -> Response:
        return Response(status_code=200 if self._engine.healthy() else 503)

    async def metrics(self, _request: Request) -> Response:
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    async def _answer(self, request: Request, ask: Ask, kind: Kind, body: ChatRequest | CompletionRequest) -> Response:
        answers = self._engine.answer(ask)
        reply = Reply(kind, self._engine.model, limit_named=body.new_tokens is not None)
        async with AsyncExitStack() as ending:
            ending.push_async_callback(_close, answers)
            first = await _unless_gone(request, anext(answers))  # an early refusal is an HTTP status, streaming or not
            if isinstance(first, Refused | Faulted):
                raise _error(first, reply)
            every = _from(first, answers)
            if not body.stream:
                return await _unless_gone(request, _whole(reply, every))
            return _Events(_events(reply, every, with_usage=body.usage_in_stream), ending.pop_all())


class _Events(StreamingResponse):
    """A stream of events. However it ends, and even if it never begins, it closes what it was made from."""

    def __init__(self, events: AsyncIterator[bytes], ending: AsyncExitStack) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._ending = ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._ending:
            await super().__call__(scope, receive, send)


Result = TypeVar("Result")


async def _unless_gone(request: Request, wanted: Awaitable[Result]) -> Result:
    """Wait for `wanted` while watching the connection: a client that hangs up must free its pages at once."""
    waiting = asyncio.ensure_future(wanted)
    watching = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((waiting, watching), return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        raise ApiError(CLIENT_CLOSED, "the client went away")
    finally:
        for task in (waiting, watching):
            task.cancel()
        await asyncio.gather(waiting, watching, return_exceptions=True)


async def _whole(reply: Reply, answers: AsyncIterator[Answer]) -> Response:
    text: list[str] = []
    async for answer in answers:
        match answer:
            case Piece():
                text.append(reply.text(answer.tokens))
            case Finished():
                text.append(reply.text(b"", last=True))
                return JSONResponse(reply.whole("".join(text), answer))
            case Refused() | Faulted():
                raise _error(answer, reply)
    raise ApiError(500, "the engine ended without an end", code="engine")


async def _events(reply: Reply, answers: AsyncIterator[Answer], *, with_usage: bool) -> AsyncIterator[bytes]:
    yield reply.chunk("", first=True)
    async for answer in answers:
        match answer:
            case Piece():
                if text := reply.text(answer.tokens):
                    yield reply.chunk(text)
            case Finished():
                yield reply.chunk(reply.text(b"", last=True), reason=answer.reason)
                if with_usage:
                    yield reply.usage_chunk(answer)
                yield b"data: [DONE]\n\n"
            case Refused() | Faulted():
                yield _error(answer, reply).event()


async def _from(first: Answer, rest: AsyncIterator[Answer]) -> AsyncIterator[Answer]:
    yield first
    if isinstance(first, Piece):
        async for answer in rest:
            yield answer


async def _close(answers: AsyncIterator[Answer]) -> None:
    """Tell the engine that nobody wants the rest; after an end it changes nothing."""
    close = getattr(answers, "aclose", None)
    if close is not None:
        await close()


def _error(answer: Refused | Faulted, reply: Reply) -> ApiError:
    if isinstance(answer, Refused):
        return refusal(answer, reply.prompt_field, limit_named=reply.limit_named)
    return fault(answer)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _tokenized(body: bytes, usable_tokens: int) -> bytes:
    tokens = parsed(body, TokenizeRequest).text()
    return msgspec.json.encode({"count": len(tokens), "max_model_len": usable_tokens, "tokens": list(tokens)})


async def _body(request: Request, bytes_max: int | None = None) -> bytes:
    bytes_max = bytes_max or BODY_BYTES_MAX
    size = 0
    parts: list[bytes] = []
    try:
        async for part in request.stream():
            size += len(part)
            if size > bytes_max:
                raise ApiError(413, f"the body is over {bytes_max} bytes")
            parts.append(part)
    except ClientDisconnect as error:
        raise ApiError(CLIENT_CLOSED, "the client went away") from error
    return b"".join(parts)


def _api_key(request: Request) -> str:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return await _unforeseen(request, error)
    message = f"{error.detail}. See /v1/models, /v1/chat/completions, /v1/completions"
    response = ApiError(error.status_code, message).response()
    response.headers.update(error.headers or {})
    return response


async def _api_error(request: Request, error: Exception) -> Response:
    return error.response() if isinstance(error, ApiError) else await _unforeseen(request, error)


async def _unforeseen(_request: Request, _error: Exception) -> Response:
    """Our own fault: the server's log has the traceback, the client the shape that it knows, without particulars."""
    return ApiError(500, "an internal error ended this request", code="internal_error").response()
