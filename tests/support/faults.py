"""Answers that go wrong on the way, each in one known way, written to a real socket."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import time
from collections.abc import Callable, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

Fault = Literal[
    "reset",
    "drip",
    "truncated",
    "cut",
    "sse",
    "sse-cut",
    "gzip",
    "gzip-broken",
    "usage",
    "plain",
    "redirect",
    "echo-key",
]
DRIPS = 200
"""Bytes, one each 20 ms: longer than any test waits for an answer."""


def go_wrong(door: BaseHTTPRequestHandler, fault: Fault, said: Any, *, elsewhere: str) -> None:
    """Answer with `said`, which is right, in this way."""
    whole = json.dumps(said).encode()
    key = door.headers.get("authorization", "").removeprefix("Bearer ")
    used_up = json.dumps({"error": {"message": f"quota of {key} is used up", "code": key}}).encode()
    wrong_usage = json.dumps({**said, "usage": {"prompt_tokens": 1, "completion_tokens": 10**9}}).encode()
    stream_of_events = events(said)
    stream = partial(_answer, kind="text/event-stream", length=None)
    ways: Mapping[Fault, Callable[[], None]] = {
        "reset": lambda: _reset(door),
        "drip": lambda: _drip(door, whole),
        "truncated": lambda: _answer(door, whole[: len(whole) // 2]),
        "cut": lambda: _answer(door, whole[: len(whole) // 2], length=len(whole), is_last=True),
        "sse": lambda: stream(door, stream_of_events),
        "sse-cut": lambda: stream(door, stream_of_events[: stream_of_events.index(b"END.") + 2]),
        "gzip": lambda: _answer(door, gzip.compress(whole), {"content-encoding": "gzip"}),
        "gzip-broken": lambda: _answer(door, whole, {"content-encoding": "gzip"}),
        "usage": lambda: _answer(door, wrong_usage),
        "plain": lambda: _answer(door, whole, kind="text/plain"),
        "redirect": lambda: _answer(door, b"", {"location": elsewhere}, status=307),
        "echo-key": lambda: _answer(door, used_up, kind=f"application/json-{key}", status=403),
    }
    ways[fault]()


def _reset(door: BaseHTTPRequestHandler) -> None:
    door.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    door.close_connection = True
    socket.close(door.connection.detach())


def _answer(
    door: BaseHTTPRequestHandler,
    content: bytes,
    headers: Mapping[str, str] | None = None,
    *,
    status: int = 200,
    kind: str = "application/json",
    length: int | None = -1,
    is_last: bool = False,
) -> None:
    """With the length that is right, or with another, or without and ended by closing."""
    door.send_response(status)
    door.send_header("content-type", kind)
    for name, value in (headers or {}).items():
        door.send_header(name, value)
    door.close_connection = is_last or length is None
    if length is None:
        door.send_header("connection", "close")
    else:
        door.send_header("content-length", str(len(content) if length < 0 else length))
    door.end_headers()
    door.wfile.write(content)


def _drip(door: BaseHTTPRequestHandler, whole: bytes) -> None:
    _answer(door, b"", length=len(whole) + DRIPS)
    with contextlib.suppress(OSError):
        for at in range(DRIPS):
            door.wfile.write(whole[at : at + 1])
            time.sleep(0.02)
    door.close_connection = True


def events(said: Any) -> bytes:
    """As a stream of OpenAI's: a few characters an event, then usage, then the end."""
    text = said["choices"][0]["message"]["content"]
    pieces = [text[at : at + 7] for at in range(0, len(text) - 4, 7)]
    pieces = [*pieces[:-1], pieces[-1][: len(text) - 4 - 7 * (len(pieces) - 1)], "END."]
    parts: list[Any] = [{"choices": [{"delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    parts += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": said["usage"]}]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in parts) + b"data: [DONE]\n\n"
