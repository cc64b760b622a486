"""A real server around a small engine in memory, to try the HTTP face without a cell behind it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager

import uvicorn

from kvfence.cell.asks import Answer, Ask, Finished, Piece, Refused, Sample
from kvfence.cell.openai_app import build_app


class Answers:
    """An iterator that has to be closed by whoever opened it: no garbage collector does it for them."""

    def __init__(self, answers: AsyncGenerator[Answer, None], closed: threading.Semaphore) -> None:
        self._answers = answers
        self._closed = closed

    def __aiter__(self) -> AsyncIterator[Answer]:
        return self

    async def __anext__(self) -> Answer:
        return await anext(self._answers)

    async def aclose(self) -> None:
        """Counted."""
        await self._answers.aclose()
        self._closed.release()


class NaiveEngine:
    """Recites by looking for the longest suffix in the text itself; no pages. Counts who opened and who closed."""

    model = "induction"

    def __init__(
        self, usable_tokens: int = 4096, *, says: tuple[Answer | Exception, ...] = (), waits: bool = False
    ) -> None:
        self.usable_tokens = usable_tokens
        self.asks: list[Ask] = []
        self.closed = threading.Semaphore(0)
        """Released each time that an iterator is closed."""
        self.began = threading.Semaphore(0)
        self._says = says
        self._waits = waits

    def answer(self, ask: Ask) -> AsyncIterator[Answer]:
        """What was given to say, word for word (an exception is raised); else what the text itself says."""
        self.asks.append(ask)
        return Answers(self._answer(ask), self.closed)

    async def _answer(self, ask: Ask) -> AsyncGenerator[Answer, None]:
        self.began.release()
        for answer in self._says or (() if self._waits else self._recite(ask)):
            if isinstance(answer, Exception):
                raise answer
            yield answer
        if self._waits:
            await asyncio.Event().wait()

    def healthy(self) -> bool:
        """As long as it is not told to wait for ever."""
        return not self._waits

    def samples(self) -> Iterable[Sample]:
        """One counter with two workers, and one gauge."""
        for worker in ("a", "b"):
            yield Sample(name="reads_total", kind="counter", value=2, help="Reads.", labels=(("worker", worker),))
        yield Sample(name="rooms_open", kind="gauge", value=1, help="Rooms.")

    def _recite(self, ask: Ask) -> Iterator[Answer]:
        asked = len(ask.prompt) + ask.max_new_tokens
        if asked > self.usable_tokens:
            yield Refused(
                asked_tokens=asked, prompt_tokens=len(ask.prompt), usable_tokens=self.usable_tokens, gate="router"
            )
            return
        text = bytearray(ask.prompt)
        for _ in range(ask.max_new_tokens):
            text.append(recited(bytes(text)))
            yield Piece(bytes(text[-1:]))
        yield Finished(
            reason="length",
            prompt_tokens=len(ask.prompt),
            completion_tokens=ask.max_new_tokens,
            cached_tokens=0,
        )


def recited(text: bytes) -> int:
    """What followed the latest earlier place of the longest suffix, up to 8 bytes, that stands there too."""
    for length in range(min(8, len(text) - 1), 0, -1):
        at = text.rfind(text[-length:], 0, len(text) - 1)
        if at >= 0:
            return text[at + length]
    return ord(".")


@contextmanager
def facing(engine: NaiveEngine) -> Iterator[str]:
    """The face of `engine`, served on loopback for as long as the block runs: its root URL."""
    bound = socket.create_server(("127.0.0.1", 0), backlog=128)
    server = uvicorn.Server(uvicorn.Config(build_app(engine), log_config=None, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), name="face")
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
