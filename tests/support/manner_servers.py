"""OpenAI-compatible servers that are right when asked one after the other, and wrong in one manner of asking each."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from support.faults import events
from support.loopback import on_loopback
from support.probe_servers import CODES

Wrong = Literal["never", "at-once", "after-longer", "streamed"]
"""When another tenant's text is shown."""
AT_ONCE = 4
"""So many requests under way mix their answers."""
WAIT_S = 0.1
"""For others to come, where the fault needs them."""


@dataclass
class MannerServer:
    """One that recites what it is asked for, but for its fault."""

    wrong: Wrong
    declared: int = 8192
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    under_way: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By a number: tenant and prompt."""
    most_under_way: int = 0
    answered: list[tuple[str, str]] = field(default_factory=list)
    """Tenant and prompt, in the order in which they were answered."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, body: dict[str, Any]) -> tuple[int, str]:
        """The status, and the text or the error."""
        tenant, prompt = body["user"], body["messages"][0]["content"]
        if len(prompt) + body["max_tokens"] > self.declared:
            return 400, f"This model's maximum context length is {self.declared} tokens."
        with self.changed:
            number = len(self.asked)
            self.asked.append(body)
            self.under_way[number] = (tenant, prompt)
            self.most_under_way = max(self.most_under_way, len(self.under_way))
            self.changed.notify_all()
            shown = self._shown(tenant, prompt, body)
            self.answered.append((tenant, prompt))
            del self.under_way[number]
        return 200, _codes(shown)

    def _shown(self, tenant: str, prompt: str, body: dict[str, Any]) -> str:
        """The prompt that is recited; the lock is held, and given up while others are waited for."""
        theirs = [text for who, text in self.answered if who != tenant]
        match self.wrong:
            case "at-once" if self.changed.wait_for(lambda: len(self.under_way) >= AT_ONCE, WAIT_S):
                return next((text for who, text in self.under_way.values() if who != tenant), prompt)
            case "after-longer" if self.answered and theirs[-1:] == [self.answered[-1][1]]:
                return theirs[-1] if len(theirs[-1]) > len(prompt) else prompt
            case "streamed" if body.get("stream") and theirs:
                return theirs[-1]
        return prompt


@contextlib.contextmanager
def manner_server(wrong: Wrong, **known: Any) -> Iterator[MannerServer]:
    """A server on a free port of loopback. A character is a token."""
    server = MannerServer(wrong, **known)

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._say(200, {"data": [{"id": "copier", "max_model_len": server.declared}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.endswith("/tokenize"):
                self._say(200, {"count": len(body["messages"][0]["content"])})
                return
            status, said = server.answer(body)
            if status != 200:
                self._say(status, {"error": {"message": said}})
                return
            usage = {"prompt_tokens": len(body["messages"][0]["content"]), "completion_tokens": len(said)}
            choice = {"message": {"content": said}, "finish_reason": "stop"}
            if body.get("stream"):
                self._stream(events({"choices": [choice], "usage": usage}))
            else:
                self._say(200, {"choices": [choice], "usage": usage})

        def _stream(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = True

        def _say(self, status: int, body: object) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with on_loopback(Door) as url:
        server.url = f"{url}/v1"
        yield server


def _codes(prompt: str) -> str:
    return "; ".join(CODES.findall(prompt)) + "; END."
