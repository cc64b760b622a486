"""Engines on loopback that answer recorded or written pages, each on a real socket; what they were asked is kept."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from support.loopback import on_loopback

CORPUS = Path(__file__).parent.parent / "corpus"
SERVER_INFO = {
    "0.5.19-prefill": CORPUS / "incident" / "sglang-0.5.19-prefill.server_info.json",
    "0.5.19-decode": CORPUS / "incident" / "sglang-0.5.19-decode.server_info.json",
    "0.5.23-prefill": CORPUS / "endpoints" / "sglang-0.5.23-prefill.json",
    "0.5.23-decode": CORPUS / "endpoints" / "sglang-0.5.23-decode.json",
}
Pages = Mapping[str, "bytes | Reply"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer that is not a plain 200."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    """Answered only to this key; 401 else."""


@dataclass
class Server:
    """A running server: where it is, and what it was asked."""

    url: str
    pages: dict[str, bytes | Reply]
    asked: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.url.removeprefix("http://")


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def sglang(which: str, **changes: object) -> dict[str, bytes | Reply]:
    """What an SGLang server answers, with some of its fields changed."""
    info = json.loads(SERVER_INFO[which].read_bytes())
    return {"/server_info": as_json({**info, **changes})}


def vllm(config: str, context: int = 2048) -> dict[str, bytes | Reply]:
    """What a vLLM server answers; `config` are the labels of its cache."""
    card = {"id": "tiny", "object": "model", "owned_by": "vllm", "root": "tiny/qwen3", "max_model_len": context}
    metrics = f"# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{{{config}}} 1.0\n"
    return {
        "/v1/models": as_json({"object": "list", "data": [card]}),
        "/version": as_json({"version": "0.32.0"}),
        "/metrics": metrics.encode(),
    }


@contextlib.contextmanager
def engine(pages: Pages) -> Iterator[Server]:
    """A server on a free port of loopback that answers these pages and 404 for the rest."""

    class Door(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            shared.asked.append(self.path)
            shared.keys.append(self.headers.get("authorization", ""))
            page = shared.pages.get(self.path, shared.pages.get("*", Reply(status=404, body=b"{}")))
            reply = page if isinstance(page, Reply) else Reply(body=page)
            if reply.key is not None and self.headers.get("authorization") != f"Bearer {reply.key}":
                reply = Reply(status=401)
            self.send_response(reply.status)
            for name, value in {"content-length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

    with on_loopback(Door) as url:
        shared = Server(url, dict(pages))
        yield shared
