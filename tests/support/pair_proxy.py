"""A router in front of a vLLM pair, as small as those of examples: first prefill, then decode with what that gave.

It can also be a bad one, for what it does with `kv_transfer_params` is all that binds a request to its own KV.
"""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.engine_processes import Answer, post
from support.loopback import on_loopback
from support.vllm_pair import ASK_PREFILL, Pair

_PATIENCE_S = 600.0


class Manner(StrEnum):
    """What the router, or a client that it lets through, does with the reference to a request's KV."""

    HONEST = "honest"
    CROSSED = "crossed"
    """Decode is given the reference of another tenant's latest prompt, where that has as many blocks."""
    POISONED = "poisoned"
    """Somebody asks decode for the same prompt with such a reference a moment earlier, and the answer is thrown away.
    The request itself is then served as it should be."""


@dataclass
class Proxy:
    """What has passed through."""

    pair: Pair
    manner: Manner = Manner.HONEST
    forged: int = 0
    """How often decode was given a reference that was not the request's own."""
    _latest: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def handed(self, path: str, body: dict[str, Any]) -> dict[str, Any] | Answer:
        """What decode is sent for a body; or prefill's refusal."""
        short = {"max_tokens": 1, "stream": False, "kv_transfer_params": ASK_PREFILL}
        plain = {name: value for name, value in body.items() if name not in {"stream_options", "max_completion_tokens"}}
        first = post(f"{self.pair.prefill.url}{path}", {**plain, **short})
        if first.status != 200:
            return first
        own = first.body["kv_transfer_params"]
        tenant = str(body.get("cache_salt"))
        with self._lock:
            others = [given for whose, given in self._latest.items() if whose != tenant]
            self._latest[tenant] = own
        others = [given for given in others if _blocks(given) >= _blocks(own)]
        if self.manner is Manner.HONEST or not others:
            return {**body, "kv_transfer_params": own}
        forged = {**own, **{name: others[-1][name] for name in ("remote_block_ids", "remote_request_id")}}
        self.forged += 1
        if self.manner is Manner.CROSSED:
            return {**body, "kv_transfer_params": forged}
        post(f"{self.pair.decode.url}{path}", {**plain, **short, "kv_transfer_params": forged})
        return {**body, "kv_transfer_params": own}


def _blocks(params: dict[str, Any]) -> int:
    return sum(len(group) for group in params["remote_block_ids"])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    proxy: Proxy

    def do_GET(self) -> None:
        self._pass_on(urllib.request.Request(f"{self.proxy.pair.decode.url}{self.path}"))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("completions"):
            handed = self.proxy.handed(self.path, body)
            if isinstance(handed, Answer):
                self._answer(handed.status, json.dumps(handed.body).encode())
                return
            body = handed
        url = f"{self.proxy.pair.decode.url}{self.path}"
        self._pass_on(urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"}))

    def _pass_on(self, request: urllib.request.Request) -> None:
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
                self.send_response(answer.status)
                self.send_header("content-type", answer.headers["content-type"])
                self.end_headers()
                for piece in answer:  # a stream's events as they come
                    self.wfile.write(piece)
                    self.wfile.flush()
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read())
        except OSError:
            with contextlib.suppress(OSError):  # whoever hung up is not told
                self._answer(502, b"{}")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base class's name
        """Quiet."""


@contextlib.contextmanager
def running_proxy(pair: Pair, manner: Manner = Manner.HONEST) -> Iterator[tuple[str, Proxy]]:
    """The router on a free port: its address, and what it counts."""
    proxy = Proxy(pair, manner)
    with on_loopback(type("_Bound", (_Handler,), {"proxy": proxy})) as url:
        yield url, proxy
