"""Small OpenAI-compatible servers that remember prompts and keep, or break, their promises; each on a real socket."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from support.faults import Fault, go_wrong
from support.loopback import on_loopback

CODES = re.compile(r"^\d+-CODE-\d+: (\S+);", re.MULTILINE)

Beyond = Literal["copy", "leak", "own", "cut", "generic", "refuse", "rate", "crash"]
"""What happens past the limit."""


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How a server behaves."""

    declared: int = 8192
    limit: int = 10**9
    beyond: Beyond = "copy"
    chars_a_token: float = 1.0
    template_tokens: int = 0
    """What a chat template adds, which `/tokenize` of a plain prompt does not count."""
    counts: tuple[str, ...] = ("messages", "prompt")
    """The forms that `/tokenize` takes, `content` alone as llama.cpp does; none: there is no such path."""
    says_usage: bool = True
    """Whether it says how many tokens a prompt had."""
    unknown_fields: tuple[str, ...] = ()
    key: str | None = None
    fault: Fault | None = None
    """Past the limit."""
    busy: int = 0
    """How many requests are answered with 429 before one is taken."""
    retry_after: str | None = None
    elsewhere: str = ""
    """Where a redirect points."""


@dataclass
class Endpoint:
    """A running server: where it is, and what it was asked."""

    url: str
    behaviour: Behaviour
    asked: list[dict[str, Any]] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    taken: int = 0
    """Tokens of all prompts and answers that it did not refuse."""
    times: list[float] = field(default_factory=list)
    """When requests came."""
    prompts: list[tuple[str, str]] = field(default_factory=list)
    """Tenant and prompt, in the order in which they were answered."""
    held_from: int | None = None
    """Answers from this one on, by number from 0, are held until `released`."""
    released: threading.Event = field(default_factory=threading.Event)

    def now(self, **changes: Any) -> None:
        """Behave otherwise from here on."""
        self.behaviour = replace(self.behaviour, **changes)

    def tokens(self, text: str, *, templated: bool) -> int:
        return round(len(text) / self.behaviour.chars_a_token) + (self.behaviour.template_tokens if templated else 0)

    def count(self, body: dict[str, Any]) -> tuple[int, object]:
        form = next(form for form in ("messages", "prompt", "content") if form in body)
        self.counted.append(form)
        if not self.behaviour.counts:
            return 404, {"error": {"message": "no such path"}}
        if "content" in self.behaviour.counts and form != "content":
            return 200, {"tokens": []}  # llama.cpp
        if form not in self.behaviour.counts:
            return 422, {"error": {"message": f"unknown field {form}"}}
        tokens = self.tokens(_text(body), templated=form == "messages")
        return 200, {"tokens": [1] * tokens} if form == "content" else {"count": tokens}

    def complete(self, body: dict[str, Any]) -> tuple[int, object]:
        self.asked.append(body)
        if self.held_from is not None and len(self.asked) > self.held_from:
            self.released.wait(60)
        if self.behaviour.busy:
            self.now(busy=self.behaviour.busy - 1)
            return 429, {"error": {"message": "later"}}
        for name in self.behaviour.unknown_fields:
            if name in body:
                return 400, {"error": {"message": f"Unrecognized request argument supplied: {name}"}}
        text = _text(body)
        tokens = self.tokens(text, templated="messages" in body)
        status, said = self._answer(text, tokens, body["max_tokens"], tenant=str(body.get("user")))
        if status != 200:
            return status, {"error": {"message": said, "type": "invalid_request_error", "param": None, "code": None}}
        answer = {"message": {"content": said}} if "messages" in body else {"text": said}
        answered = self.tokens(said, templated=False)
        self.taken += tokens + answered
        usage = {"usage": {"prompt_tokens": tokens, "completion_tokens": answered}} if self.behaviour.says_usage else {}
        return 200, {"choices": [{**answer, "finish_reason": "stop"}], **usage}

    def _answer(self, text: str, tokens: int, max_tokens: int, *, tenant: str) -> tuple[int, str]:
        asked = self.behaviour
        if tokens + max_tokens > asked.declared:
            return 400, f"This model's maximum context length is {asked.declared} tokens."
        theirs = [_codes(prompt) for who, prompt in self.prompts if who != tenant] or ["?"]
        mine = [_codes(prompt) for who, prompt in self.prompts if who == tenant] or ["?"]
        self.prompts.append((tenant, text))
        answers: dict[Beyond, tuple[int, str]] = {
            "copy": (200, _codes(text)),
            "leak": (200, theirs[-1]),
            "own": (200, mine[-1]),
            "cut": (200, theirs[-1][9:35]),
            "generic": (200, "As the rivers rose, the archivist wrote on, and nothing more was heard."),
            "refuse": (400, f"Input length ({tokens} tokens) exceeds the maximum allowed ({asked.limit} tokens)."),
            "rate": (429, "Rate limit reached for sk-hunter2hunter2hunter2: api_key=hunter2hunter2hunter2"),
            "crash": (500, "CUDA error"),
        }
        return answers[asked.beyond if tokens > asked.limit else "copy"]


@contextlib.contextmanager
def endpoint(behaviour: Behaviour | None = None) -> Iterator[Endpoint]:
    """A server on a free port of loopback."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's delayed acknowledgement

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            model = {"id": "copier", "max_model_len": shared.behaviour.declared}
            self._say(200, {"object": "list", "data": [model]})

        def do_POST(self) -> None:
            shared.times.append(time.monotonic())
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            key = shared.behaviour.key
            if key is not None and self.headers.get("authorization") != f"Bearer {key}":
                self._say(401, {"error": {"message": "no"}})
            elif self.path.endswith("/tokenize"):
                self._say(*shared.count(body))
            else:
                status, said = shared.complete(body)
                is_long = shared.tokens(_text(body), templated=False) > shared.behaviour.limit
                fault = shared.behaviour.fault if is_long and status == 200 else None
                if fault is None:
                    self._say(status, said)
                else:
                    go_wrong(self, fault, said, elsewhere=shared.behaviour.elsewhere)

        def _say(self, status: int, body: object) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if status == 429 and shared.behaviour.retry_after is not None:
                self.send_header("retry-after", shared.behaviour.retry_after)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with on_loopback(Door) as url:
        shared = Endpoint(f"{url}/v1", behaviour or Behaviour())
        yield shared


def _text(body: dict[str, Any]) -> str:
    if "messages" in body:
        return str(body["messages"][0]["content"])
    return str(body["prompt"] if "prompt" in body else body["content"])


def _codes(prompt: str) -> str:
    return "; ".join(CODES.findall(prompt)) + "; END."
