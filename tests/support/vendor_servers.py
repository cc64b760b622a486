"""Servers that speak Anthropic's and OpenRouter's dialect over a real socket, and break their promises past a limit.

They remember prompts and answer as `probe_servers` do; this file has only the words in which it is said.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from support.faults import go_wrong
from support.loopback import on_loopback
from support.probe_servers import Behaviour, Endpoint

Twist = Literal[
    "",
    "reset",
    "overloaded",
    "later-200",
    "error-event",
    "cut-stream",
    "declined",
    "error-200",
    "error-in-choice",
    "raw-error",
    "elsewhere",
    "compressed",
    "echo-key",
]
"""What goes wrong past the limit, beside what `Behaviour` knows."""
PROVIDERS = (("DeepInfra", "deepinfra/fp8"), ("DeepInfra", "deepinfra/fp4"), ("Azure", "azure"))
"""Who serves OpenRouter's model: name and tag."""
MODEL = "vendor/copier"


@dataclass
class Vendor(Endpoint):
    """A running server, and with which headers it was asked."""

    twist: Twist = ""
    provider: str = "DeepInfra"
    """Who answers at OpenRouter."""
    headers: list[dict[str, str]] = field(default_factory=list)
    busy_left: int = 2
    """How often a long prompt is answered with "later" first, where the twist says so."""

    def twisted(self, tokens: int) -> Twist:
        """What goes wrong with a prompt of this length."""
        twist = self.twist if tokens > self.behaviour.limit else ""
        if twist in {"overloaded", "later-200"}:
            self.busy_left -= 1
            return twist if self.busy_left >= 0 else ""
        return twist


@contextlib.contextmanager
def anthropic(behaviour: Behaviour | None = None, twist: Twist = "") -> Iterator[Vendor]:
    """Anthropic's Messages API."""
    with _running(_AnthropicDoor, behaviour, twist) as vendor:
        yield vendor


@contextlib.contextmanager
def openrouter(behaviour: Behaviour | None = None, twist: Twist = "") -> Iterator[Vendor]:
    """OpenRouter's chat."""
    with _running(_OpenRouterDoor, behaviour, twist) as vendor:
        yield vendor


@contextlib.contextmanager
def _running(kind: type[_Door], behaviour: Behaviour | None, twist: Twist) -> Iterator[Vendor]:
    class Door(kind):  # type: ignore[misc, valid-type]  # a class that knows its server
        pass

    with on_loopback(Door) as url:
        Door.vendor = Vendor(f"{url}/v1", behaviour or Behaviour(), twist=twist)
        yield Door.vendor


class _Door(BaseHTTPRequestHandler):
    vendor: Vendor
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.vendor.headers.append(dict(self.headers.items()))
        self._say(*self._card())

    def do_POST(self) -> None:
        self.vendor.headers.append(dict(self.headers.items()))
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._answer(body)

    def _card(self) -> tuple[int, object]:
        raise NotImplementedError

    def _answer(self, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def _say(self, status: int, body: object, *, kind: str = "application/json") -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class _AnthropicDoor(_Door):
    def _card(self) -> tuple[int, object]:
        name = self.path.rpartition("/")[2]
        return 200, {"type": "model", "id": f"{name}-20261101", "max_input_tokens": self.vendor.behaviour.declared}

    def _answer(self, body: dict[str, Any]) -> None:
        vendor, text = self.vendor, str(body["messages"][0]["content"])
        if self.headers.get("anthropic-version") != "2023-06-01":
            self._fail(400, "invalid_request_error", "anthropic-version: header is required")
        elif vendor.behaviour.key is not None and self.headers.get("x-api-key") != vendor.behaviour.key:
            self._fail(401, "authentication_error", "invalid x-api-key")
        elif "temperature" in body:
            self._fail(400, "invalid_request_error", "`temperature` is deprecated for this model.")
        elif self.path.endswith("/count_tokens"):
            vendor.counted.append("messages")
            self._say(200, {"input_tokens": vendor.tokens(text, templated=True)})
        else:
            user = body.get("metadata", {}).get("user_id")
            self._complete(body, vendor.complete({**body, "user": user}), vendor.tokens(text, templated=True))

    def _complete(self, body: dict[str, Any], answered: tuple[int, Any], tokens: int) -> None:
        status, said = answered
        twist = self.vendor.twisted(tokens)
        if status != 200:
            over = f"prompt is too long: {tokens} tokens > {self.vendor.behaviour.declared} maximum"
            self._fail(status, "invalid_request_error", over if status == 400 else said["error"]["message"])
            return
        text = said["choices"][0]["message"]["content"]
        usage = {
            "input_tokens": said["usage"]["prompt_tokens"] - 300,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 200,
        }
        match twist:
            case "reset":
                go_wrong(self, "reset", said, elsewhere="")
            case "overloaded":
                self._fail(529, "overloaded_error", "Overloaded")
            case "echo-key":
                self._fail(403, "permission_error", f"{self.headers['x-api-key']} may not do that")
            case "error-event" | "cut-stream":
                self._say(200, _anthropic_events(text, usage, twist), kind="text/event-stream")
            case _ if body.get("stream"):
                self._say(200, _anthropic_events(text, usage, ""), kind="text/event-stream")
            case _:
                reason = "refusal" if twist == "declined" else "stop_sequence"
                thought = {"type": "thinking", "thinking": "The document has codes."}
                whole = {**usage, "output_tokens": len(text)}
                content = [thought, {"type": "text", "text": text}]
                self._say(200, {"type": "message", "content": content, "stop_reason": reason, "usage": whole})

    def _fail(self, status: int, kind: str, message: str) -> None:
        self._say(status, {"type": "error", "error": {"type": kind, "message": message}})


def _anthropic_events(text: str, usage: dict[str, int], twist: Twist) -> bytes:
    """A stream of a few characters an event; twisted, it has half of the text and no end."""
    whole = text if not twist else text[: len(text) // 2]
    start = {"type": "message_start", "message": {"content": [], "usage": {**usage, "output_tokens": 1}}}
    parts: list[dict[str, Any]] = [start, {"type": "content_block_start", "index": 0}, {"type": "ping"}]
    deltas = ({"type": "text_delta", "text": whole[at : at + 7]} for at in range(0, len(whole), 7))
    parts += [{"type": "content_block_delta", "delta": delta} for delta in deltas]
    if twist == "error-event":
        parts.append({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    elif not twist:
        delta = {"stop_reason": "stop_sequence"}
        parts += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": len(text)}}]
        parts += [{"type": "message_stop"}]
    return b"".join(f"event: {part['type']}\ndata: {json.dumps(part)}\n\n".encode() for part in parts)


class _OpenRouterDoor(_Door):
    def _card(self) -> tuple[int, object]:
        declared = self.vendor.behaviour.declared
        if self.path == "/v1/models":
            return 200, {"data": [{"id": MODEL, "context_length": declared}]}
        if self.path != f"/v1/models/{MODEL}/endpoints":
            return 404, {"error": {"code": 404, "message": "no such model"}}
        endpoints = [
            {"provider_name": name, "tag": tag, "context_length": declared * (1 + (tag == "deepinfra/fp4"))}
            for name, tag in PROVIDERS
        ]
        return 200, {"data": {"id": MODEL, "endpoints": endpoints}}

    def _answer(self, body: dict[str, Any]) -> None:
        vendor, text = self.vendor, str(body["messages"][0]["content"])
        if vendor.behaviour.key is not None and self.headers.get("authorization") != f"Bearer {vendor.behaviour.key}":
            self._say(401, {"error": {"code": 401, "message": "No auth credentials found"}})
            return
        tokens = vendor.tokens(text, templated=True)
        twist = vendor.twisted(tokens)
        if twist == "compressed":  # as if the plugin were on, whatever the request says
            text = text[:200] + text[-500:]
        status, said = vendor.complete({**body, "messages": [{"role": "user", "content": text}]})
        if status != 200:
            self._say(status, {"error": {"code": status, "message": said["error"]["message"]}})
            return
        said |= {"provider": "Azure" if twist == "elsewhere" else vendor.provider, "model": MODEL}
        self._say_twisted(twist, said)

    def _say_twisted(self, twist: Twist, said: Any) -> None:
        match twist:
            case "reset":
                go_wrong(self, "reset", said, elsewhere="")
            case "later-200":
                self._fail_with_success(429, "Provider returned error")
            case "echo-key":
                self._fail_with_success(403, f"{self.headers['authorization'].removeprefix('Bearer ')} is not known")
            case "error-200":
                self._fail_with_success(502, "Provider returned error")
            case "raw-error":
                raw = f"the context of {self.vendor.behaviour.limit} tokens is exceeded"
                self._fail_with_success(
                    400, "Provider returned error", metadata={"raw": raw, "provider_name": "DeepInfra"}
                )
            case "error-in-choice":
                said["choices"][0] |= {"finish_reason": "error", "error": {"code": 502, "message": "Upstream is gone"}}
                self._say(200, said)
            case "error-event":
                half = said["choices"][0]["message"]["content"][: len(said["choices"][0]["message"]["content"]) // 2]
                first = {"provider": said["provider"], "choices": [{"delta": {"content": half}}]}
                last = {"error": {"code": 502, "message": "Upstream is gone"}, "choices": [{"finish_reason": "error"}]}
                content = b": OPENROUTER PROCESSING\n\n" + _data(first) + _data(last)
                self._say(200, content, kind="text/event-stream")
            case _:
                self._say(200, said)

    def _fail_with_success(self, code: int, message: str, **more: object) -> None:
        self._say(200, {"id": "gen-1", "error": {"code": code, "message": message, **more}})


def _data(event: object) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"
