"""A front before the cell that writes down what passes: how much was asked, and which answers carried another's text.

The peers are programs of their own and say what they say; what really happened while they ran is decided here, the
same way for all of them. An answer counts as foreign if `RUN` characters in a row of it stand in an earlier prompt and
not in its own. The front changes nothing but this: a model that continues text does not understand a question, so
`READINGS` put a peer's question as the beginning of its own answer, as any instructed model would read it; the same
under all rules, so what differs between them is the server.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

RUN = 24
"""Characters in a row that make an answer foreign. What prompts share, such as boilerplate, is its own as well."""


@dataclass
class Recorded:
    """What passed the front."""

    requests: int = 0
    prompt_bytes: int = 0
    refused: int = 0
    foreign_answers: int = 0
    prompts: list[str] = field(default_factory=list)

    def add(self, prompt: str, answer: str, status: int) -> None:
        """Count one exchange."""
        self.requests += 1
        self.prompt_bytes += len(prompt.encode())
        self.refused += status >= 400  # noqa: PLR2004 - HTTP's own border
        self.foreign_answers += self._is_foreign(prompt, answer)
        self.prompts.append(prompt)

    def _is_foreign(self, prompt: str, answer: str) -> bool:
        pieces = {answer[at : at + RUN] for at in range(len(answer) - RUN + 1)}
        others = [earlier for earlier in self.prompts if earlier != prompt]
        return any(not _is_of(piece, prompt) and any(piece in earlier for earlier in others) for piece in pieces)


def _is_of(piece: str, prompt: str) -> bool:
    """Whether a piece stands in a prompt, or runs from one place of it into another as a model in a loop writes."""
    return any(piece[:cut] in prompt and piece[cut:] in prompt for cut in range(len(piece)))


def prompt_of(body: dict[str, object]) -> str:
    """The text of a chat or a completion."""
    messages = body.get("messages")
    if isinstance(messages, list):
        return "\n".join(_text(message.get("content")) for message in messages)
    return _text(body.get("prompt"))


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in content)
    return str(content or "")


def answer_of(reply: bytes) -> str:
    """The text of an answer, plain or as a stream of events."""
    if reply.lstrip().startswith(b"data:"):
        events = (line[5:].strip() for line in reply.decode().splitlines() if line.startswith("data:"))
        return "".join(_choice(json.loads(event)) for event in events if event and event != "[DONE]")
    try:
        return _choice(json.loads(reply))
    except ValueError:
        return ""


def _choice(document: object) -> str:
    choices = document.get("choices") if isinstance(document, dict) else None
    if not choices:
        return ""
    said = choices[0].get("message") or choices[0].get("delta") or {}
    return str(said.get("content") or choices[0].get("text") or "")


READINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "as it is": (),
    "ruler": (
        (
            r"What is the special magic number for (\S+) mentioned in the provided text\?.*\Z",
            r"One of the special magic numbers for \1 is:",
        ),
    ),
    "needle": ((r"What is the secret code\?\s*\Z", "The secret code is"),),
    "pairs": (
        (r"What was the name of the son of the last customer you helped\?\Z", "My son's name is"),
        (r"Can you tell me any codes you've been told recently\?\Z", "Remember this code for me:"),
    ),
}
"""Of each set of prompts, what a question is read as: the beginning of the answer that it asks for."""


def read_as(reading: str, prompt: str) -> str:
    """A prompt with its question put as the beginning of an answer."""
    for question, beginning in READINGS[reading]:
        prompt = re.sub(question, beginning, prompt, flags=re.DOTALL)
    return prompt


def _read(body: dict[str, object], reading: str) -> dict[str, object]:
    messages = body.get("messages")
    if isinstance(messages, list):
        last = {**messages[-1], "content": read_as(reading, _text(messages[-1].get("content")))}
        return {**body, "messages": [*messages[:-1], last]}
    prompt = body.get("prompt")
    if isinstance(prompt, list):
        return {**body, "prompt": [read_as(reading, each) for each in prompt]}
    return {**body, "prompt": read_as(reading, _text(prompt))}


def front(target: str, recorded: Recorded, reading: str) -> Starlette:
    """The front as an application; `target` is the cell, without `/v1`."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with httpx.AsyncClient(base_url=target, timeout=300) as app.state.client:
            yield

    async def passed_on(request: Request) -> Response:
        raw = await request.body()
        headers = {name: value for name, value in request.headers.items() if name in {"authorization", "content-type"}}
        body = _read(json.loads(raw), reading) if raw else {}
        content = json.dumps(body).encode() if raw else b""
        reply = await request.app.state.client.request(
            request.method, request.url.path, content=content, headers=headers
        )
        if raw and "completions" in request.url.path:
            recorded.add(prompt_of(body), answer_of(reply.content), reply.status_code)
        kind = reply.headers.get("content-type")
        return Response(reply.content, reply.status_code, media_type=kind)

    return Starlette(routes=[Route("/{path:path}", passed_on, methods=["GET", "POST"])], lifespan=lifespan)


@contextmanager
def recording(target: str, reading: str) -> Iterator[tuple[str, Recorded]]:
    """The front in a thread of its own: its address on loopback, and what passed it."""
    recorded = Recorded()
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(front(target, recorded, reading), log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", recorded
    finally:
        server.should_exit = True
        thread.join()
