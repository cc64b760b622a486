"""OpenAI-compatible servers that are right when asked one after the other, and wrong in one manner of asking each."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from support.faults import events
from support.loopback import on_loopback
from support.probe_servers import CODES

Wrong = Literal["never", "at-once", "after-longer", "streamed", "after-hang-up", "pool-full", "prefix", "json"]
"""When another tenant's text is shown."""
AT_ONCE = 4
"""So many requests under way mix their answers."""
POOL = 20_000
"""Tokens that may be under way before pages are taken from somebody."""
PREFIX = 1000
"""Characters by which a prompt is looked up in the prefix cache."""
ONE_OF = 5
"""JSON objects, of which one is given back with another value."""
WAIT_S = 0.05
"""For others to come, where the fault needs them; and for a client to hang up."""
LOOKS = 10
"""How often it is looked whether the client is still there."""


@dataclass
class MannerServer:
    """One that recites what it is asked for, but for its fault."""

    wrong: Wrong
    declared: int = 8192
    url: str = ""
    unknown_field: str = ""
    """A field for which a request is refused."""
    refused: int = 0
    echoes: int = 0
    """JSON objects that were given back while others were asked for."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    under_way: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By a number: tenant and prompt."""
    most_under_way: int = 0
    answered: list[tuple[str, str]] = field(default_factory=list)
    """Tenant and prompt, in the order in which they were answered."""
    given_up: list[tuple[str, str]] = field(default_factory=list)
    """Tenant and prompt, of clients that hung up."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, body: dict[str, Any], is_gone: Callable[[], bool]) -> tuple[int, str]:
        """The status, and the text or the error. `is_gone`: whether the client has hung up."""
        if self.unknown_field in body:
            self.refused += 1
            return 400, f"Unrecognized request argument supplied: {self.unknown_field}"
        tenant, prompt = body["user"], body["messages"][0]["content"]
        if len(prompt) + body["max_tokens"] > self.declared:
            return 400, f"This model's maximum context length is {self.declared} tokens."
        with self.changed:
            number = len(self.asked)
            self.asked.append(body)
            self.under_way[number] = (tenant, prompt)
            self.most_under_way = max(self.most_under_way, len(self.under_way))
            self.changed.notify_all()
            if self.wrong == "after-hang-up" and self._hangs_up(is_gone):
                self.given_up.append((tenant, prompt))
                self.changed.notify_all()
            shown = self._shown(tenant, prompt, body)
            self.answered.append((tenant, prompt))
            said = _codes(shown)
            if self.wrong == "json" and '"open":true' in said:
                said = self._echoed(said)
            del self.under_way[number]
        return 200, said

    def _echoed(self, said: str) -> str:
        """One in so many that others are beside has another value in it."""
        if not self.changed.wait_for(lambda: len(self.under_way) > 1, WAIT_S):
            return said
        self.echoes += 1
        return said if self.echoes % ONE_OF else said.replace('"001-v-001":', '"001-v-001":1', 1)

    def _is_full(self) -> bool:
        return sum(len(text) for _, text in self.under_way.values()) >= POOL

    def _hangs_up(self, is_gone: Callable[[], bool]) -> bool:
        """Whether the client does while its prompt is at work; the lock is given up in between."""
        return any(self.changed.wait_for(is_gone, WAIT_S / LOOKS) for _ in range(LOOKS))

    def _shown(self, tenant: str, prompt: str, body: dict[str, Any]) -> str:
        """The prompt that is recited; the lock is held, and given up while others are waited for."""
        theirs = [text for who, text in self.answered if who != tenant]
        wrong: list[str] = []
        match self.wrong:
            case "at-once" if self.changed.wait_for(lambda: len(self.under_way) >= AT_ONCE, WAIT_S):
                wrong = [text for who, text in self.under_way.values() if who != tenant]
            case "pool-full" if self.changed.wait_for(self._is_full, WAIT_S):
                wrong = [text for who, text in self.under_way.values() if who != tenant]
            case "prefix":
                wrong = [text for text in theirs if text[:PREFIX] == prompt[:PREFIX]]
            case "after-longer" if self.answered and self.answered[-1][1] in theirs[-1:]:
                wrong = [text for text in theirs[-1:] if len(text) > len(prompt)]
            case "after-hang-up":
                wrong = [text for who, text in self.given_up if who != tenant]
            case "streamed" if body.get("stream"):
                wrong = theirs
        return wrong[-1] if wrong else prompt


class _Door(BaseHTTPRequestHandler):
    shared: MannerServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._say(200, {"data": [{"id": "copier", "max_model_len": self.shared.declared}]})

    def do_POST(self) -> None:
        with contextlib.suppress(ConnectionError):  # the client has hung up
            self._complete()

    def _complete(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/tokenize"):
            self._say(200, {"count": len(body["messages"][0]["content"])})
            return
        status, said = self.shared.answer(body, self._is_gone)
        if status != 200:
            self._say(status, {"error": {"message": said}})
            return
        usage = {"prompt_tokens": len(body["messages"][0]["content"]), "completion_tokens": len(said)}
        choice = {"message": {"content": said}, "finish_reason": "stop"}
        if body.get("stream"):
            self._stream(events({"choices": [choice], "usage": usage}))
        else:
            self._say(200, {"choices": [choice], "usage": usage})

    def _is_gone(self) -> bool:
        ready, _, _ = select.select([self.connection], [], [], 0)
        return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""

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


@contextlib.contextmanager
def manner_server(wrong: Wrong, **known: Any) -> Iterator[MannerServer]:
    """A server on a free port of loopback. A character is a token."""
    server = MannerServer(wrong, **known)
    with on_loopback(type("Door", (_Door,), {"shared": server})) as url:
        server.url = f"{url}/v1"
        yield server


def _codes(prompt: str) -> str:
    return "; ".join(CODES.findall(prompt)) + "; END."
