"""A chat server on loopback that answers with the canary of the prompt it was asked, or of another."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.loopback import on_loopback

MARKER = re.compile(r"Canary code: ((?:[0-9A-Z]{5}-){4}[0-9A-Z]{5})\.")
SAID = "It is 42."


@dataclass
class Chat:
    """A running server: how it behaves, and what it was sent, to the byte."""

    url: str
    silent: bool = False
    """It drops the marker."""
    busy: int = 0
    """How many requests get a 429 first."""
    refuses_markers: bool = False
    chars_a_chunk: int = 7
    breaks_at: int | None = None
    """After so many chunks the connection ends."""
    mixed: threading.Barrier | None = None
    """Two requests that wait for each other, and get each other's answers."""
    bodies: list[bytes] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)

    def answer(self, body: dict[str, Any]) -> str:
        own = MARKER.findall(json.dumps(body["messages"]))
        self.markers += own
        if self.mixed is not None:
            self.mixed.wait(10)
            own = [marker for marker in self.markers if marker not in own][-1:]
        shown = "" if self.silent or not own else f"\n\n**Canary code:** `{own[-1]}`."
        return SAID + shown


@contextlib.contextmanager
def chat_server(**behaviour: Any) -> Iterator[Chat]:  # noqa: C901 — one server, each manner a line
    """The server, for as long as a `with` lasts."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            shared.bodies.append(raw)
            body = json.loads(raw)
            if shared.busy:
                shared.busy -= 1
                return self._say(429, {"error": {"message": "later"}}, {"retry-after-ms": "1"})
            if shared.refuses_markers and MARKER.search(raw.decode()):
                return self._say(400, {"error": {"message": "context length exceeded"}})
            answer = shared.answer(body)
            if body.get("stream"):
                return self._stream(answer)
            message = {"role": "assistant", "content": answer}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return self._say(200, {**_head("chat.completion"), "choices": [choice]})

        def _say(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**(headers or {}), "content-type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, answer: str) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            size = shared.chars_a_chunk
            deltas = [{"content": answer[at : at + size]} for at in range(0, len(answer), size)]
            for number, delta in enumerate(deltas):
                if number == shared.breaks_at:
                    self._event({"error": {"message": "worker lost"}})
                    return
                self._event(_chunk(delta, None))
            self._event(_chunk({}, "stop"))
            self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, body: object) -> None:
            self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())

    with on_loopback(Door) as url:
        shared = Chat(f"{url}/v1", **behaviour)
        yield shared


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "m"}


def _chunk(delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_head("chat.completion.chunk"), "choices": [choice]}
