"""What the HTTP face accepts, parsed once into values. Unknown fields are ignored, as OpenAI's own API does.

Anything that would change what is asked and that this model cannot do is refused, not dropped in silence.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, TypeVar

import msgspec

from kvfence.cell.asks import Ask, Engine
from kvfence.cell.openai_errors import ApiError
from kvfence.cell.openai_fields import refuse_unsupported

DEFAULT_NEW_TOKENS = 256
"""Where a client names no limit; bounded by what is usable."""

STOPS_MAX = 4
"""How many texts may end an answer; OpenAI takes as many."""
STOP_BYTES_MAX = 1024
"""Each is compared with the end of the answer at every token, so its length is bounded; a sentence fits."""

PositiveInt = Annotated[int, msgspec.Meta(ge=1)]


class TextPart(msgspec.Struct, frozen=True):
    """One part of a message's content; only text can be read by this model."""

    type: str
    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """One message of a chat."""

    role: str
    content: str | list[TextPart] | None = None

    def text(self) -> str:
        """The content as one text."""
        if isinstance(self.content, str):
            return self.content
        for part in self.content or ():
            if part.type != "text":
                raise ApiError(400, f"content of type '{part.type}' is not supported", param="messages")
        return "".join(part.text for part in self.content or ())


class StreamOptions(msgspec.Struct, frozen=True):
    """Options of a stream."""

    include_usage: bool = False


class _Sampling(msgspec.Struct, frozen=True, kw_only=True):
    model: str = ""
    max_tokens: PositiveInt | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    min_p: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    seed: int | None = None
    cache_salt: str | None = None

    def stops(self) -> tuple[bytes, ...]:
        texts = [self.stop] if isinstance(self.stop, str) else self.stop or []
        if len(texts) > STOPS_MAX:
            raise ApiError(400, f"'stop' has {len(texts)} texts; at most {STOPS_MAX} can be taken", param="stop")
        stops = tuple(text.encode() for text in texts if text)
        if any(len(stop) > STOP_BYTES_MAX for stop in stops):
            raise ApiError(400, f"a text of 'stop' is over {STOP_BYTES_MAX} bytes", param="stop")
        return stops

    @property
    def usage_in_stream(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


class ChatRequest(_Sampling, frozen=True, kw_only=True):
    """Body of `/v1/chat/completions`."""

    messages: Annotated[list[Message], msgspec.Meta(min_length=1)]
    max_completion_tokens: PositiveInt | None = None

    def prompt(self) -> bytes:
        """The chat template of this model: contents one after the other; it goes on from the last."""
        return "".join(message.text() for message in self.messages).encode()

    @property
    def new_tokens(self) -> int | None:
        """The client's limit, under either of its names."""
        return self.max_completion_tokens or self.max_tokens


class CompletionRequest(_Sampling, frozen=True, kw_only=True):
    """Body of `/v1/completions`."""

    prompt: str | list[int | str]

    @property
    def new_tokens(self) -> int | None:
        """The client's limit."""
        return self.max_tokens


class TokenizeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Body of `/tokenize`, in vLLM's form: a prompt or messages."""

    model: str = ""
    prompt: str | None = None
    messages: list[Message] | None = None

    def text(self) -> bytes:
        """What is to be tokenised."""
        if self.prompt is not None:
            return self.prompt.encode()
        if self.messages:
            return "".join(message.text() for message in self.messages).encode()
        raise ApiError(400, "either 'prompt' or 'messages' is needed", param="prompt")


Body = TypeVar("Body")


def parsed(body: bytes, kind: type[Body]) -> Body:
    """The body as a value. Raises `ApiError` with status 400, naming the field."""
    try:
        request = msgspec.json.decode(body, type=kind)
        if isinstance(request, _Sampling):
            refuse_unsupported(body)
        return request  # noqa: TRY300 — the errors below are both decoders'
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `$.")
        raise ApiError(400, text, param=where.rstrip("`").split("[")[0] or None) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ApiError(400, f"the body is not JSON: {error}") from error
    except RecursionError as error:
        raise ApiError(400, "the body is nested too deeply") from error


def completion_prompt(request: CompletionRequest) -> bytes:
    """The prompt of a completion: one text, or the ids of its tokens."""
    prompt = request.prompt
    if isinstance(prompt, str):
        return prompt.encode()
    if len(prompt) == 1 and isinstance(prompt[0], str):
        return prompt[0].encode()
    tokens = [token for token in prompt if isinstance(token, int)]
    if len(tokens) < len(prompt):
        raise ApiError(400, "one prompt at a time: a text, or a list of token ids", param="prompt")
    try:
        return bytes(tokens)
    except ValueError as error:
        raise ApiError(400, "a token id is outside 0..255", param="prompt") from error


def as_ask(request: ChatRequest | CompletionRequest, engine: Engine, api_key: str) -> Ask:
    """The request as the engine takes it. Raises `ApiError` for what this model cannot do."""
    if request.model and request.model != engine.model:
        message = f"the model '{request.model}' does not exist; this is '{engine.model}'"
        raise ApiError(404, message, param="model", code="model_not_found")
    prompt = request.prompt() if isinstance(request, ChatRequest) else completion_prompt(request)
    if not prompt:
        raise ApiError(400, "the prompt is empty", param="messages" if isinstance(request, ChatRequest) else "prompt")
    room_left = engine.usable_tokens - len(prompt)
    default = max(1, min(DEFAULT_NEW_TOKENS, room_left))
    return Ask(
        tenant=tenant_of(api_key, request.cache_salt),
        prompt=prompt,
        max_new_tokens=request.new_tokens or default,
        stop=request.stops(),
    )


def tenant_of(api_key: str, cache_salt: str | None) -> str:
    """The isolation domain: the key, split further by the salt. Two keys never share one, whatever the salt.

    A hash, so that no API key travels between workers or gets into a state that might be printed.
    """
    who = f"{len(api_key)}:{api_key}/{cache_salt or ''}"
    return hashlib.blake2b(who.encode(), digest_size=12).hexdigest()
