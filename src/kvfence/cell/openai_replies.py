"""Bodies and stream events of answers, in OpenAI's shape. Bytes of an answer become text here, and only once."""

from __future__ import annotations

import codecs
import time
import uuid
from typing import Literal

import msgspec

from kvfence.cell.asks import Finished
from kvfence.cell.openai_errors import JsonObject

Kind = Literal["chat", "completion"]
_UTF8 = codecs.getincrementaldecoder("utf-8")


def usage(finished: Finished) -> JsonObject:
    """The usage figures of an answer."""
    return {
        "prompt_tokens": finished.prompt_tokens,
        "completion_tokens": finished.completion_tokens,
        "total_tokens": finished.prompt_tokens + finished.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": finished.cached_tokens},
    }


class Reply:
    """One answer on its way. Streamed and whole answers decode bytes alike, so their texts are equal."""

    def __init__(self, kind: Kind, model: str, *, limit_named: bool = True) -> None:
        self.kind = kind
        self.limit_named = limit_named
        self.model = model
        self.id = ("chatcmpl-" if kind == "chat" else "cmpl-") + uuid.uuid4().hex
        self.created = int(time.time())
        self._decoder = _UTF8("replace")

    @property
    def prompt_field(self) -> str:
        """The field of the body that the prompt came in."""
        return "messages" if self.kind == "chat" else "prompt"

    def text(self, tokens: bytes, *, last: bool = False) -> str:
        """The text that these tokens complete; an unfinished character waits for its other bytes."""
        return self._decoder.decode(tokens, last)

    def whole(self, text: str, finished: Finished) -> JsonObject:
        """The body of an answer that is not streamed."""
        said: JsonObject = (
            {"message": {"role": "assistant", "content": text}} if self.kind == "chat" else {"text": text}
        )
        choice = {"index": 0, **said, "finish_reason": finished.reason, "logprobs": None}
        name = "chat.completion" if self.kind == "chat" else "text_completion"
        return {**self._head(name), "choices": [choice], "usage": usage(finished)}

    def chunk(self, text: str, *, first: bool = False, reason: str | None = None) -> bytes:
        """One event of a stream."""
        if self.kind == "chat":
            delta: JsonObject = {"role": "assistant"} if first else {}
            said: JsonObject = {"delta": delta | ({"content": text} if text or first else {})}
        else:
            said = {"text": text}
        choice = {"index": 0, **said, "finish_reason": reason, "logprobs": None}
        return self._event({"choices": [choice]})

    def usage_chunk(self, finished: Finished) -> bytes:
        """The event with the usage figures, which has no choices."""
        return self._event({"choices": [], "usage": usage(finished)})

    def _event(self, body: JsonObject) -> bytes:
        name = "chat.completion.chunk" if self.kind == "chat" else "text_completion"
        return b"data: " + msgspec.json.encode({**self._head(name), **body}) + b"\n\n"

    def _head(self, name: str) -> JsonObject:
        return {"id": self.id, "object": name, "created": self.created, "model": self.model}
