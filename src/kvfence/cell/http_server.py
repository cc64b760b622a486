"""The HTTP server around the face: how it stops, and how long it waits for clients that say nothing.

uvicorn cancels what still runs when its time is over, which clients see as a 500 or as a stream cut off. Here every
open answer gets an end that says why, before that.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from typing import Protocol

import uvicorn
from starlette.types import ASGIApp

STOP_GRACE_S = 2.0
"""How long open answers may go on after the order to stop. New ones are refused with 503 from then on."""
HANG_UP_AFTER_S = 1.0
"""How long clients have to take the error that ended their answer; who does not read is cut off."""
CANCEL_AFTER_S = 5
"""uvicorn's own last resort, which nothing should reach."""
HEAD_S_MAX = 30.0
"""How long a connection may take to send the head of a request. Apache's `RequestReadTimeout` begins with 20 s."""
POLL_S = 0.05


class Stoppable(Protocol):
    """What answers behind the face."""

    @property
    def open_answers(self) -> int:
        """How many are not ended."""
        ...

    def refuse_new(self) -> None:
        """From now on every request is refused, with the reason that the server is stopping."""
        ...

    def end_open(self) -> None:
        """Every open answer ends now, with the same reason."""
        ...


class HttpServer(uvicorn.Server):
    """Serves `app`. When told to exit it refuses, waits, ends what is open, and only then closes connections."""

    def __init__(self, app: ASGIApp, answers: Stoppable) -> None:
        settings = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=CANCEL_AFTER_S,
        )
        super().__init__(settings)
        self._answers = answers
        self._heads: dict[object, tuple[object, float]] = {}
        logging.getLogger("uvicorn.error").addFilter(_no_advice)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop within `STOP_GRACE_S` and a little, whatever clients do."""
        self._answers.refuse_new()
        await self._wait_while(lambda: self._answers.open_answers > 0, STOP_GRACE_S)
        self._answers.end_open()
        hanging_up = asyncio.create_task(self._hang_up())
        await super().shutdown(sockets)
        await hanging_up

    async def on_tick(self, counter: int) -> bool:
        """Once a second, let go of connections that have not sent the head of a request for `HEAD_S_MAX`."""
        if counter % 10 == 0:
            self._close_half_open(time.monotonic())
        return await super().on_tick(counter)

    async def _hang_up(self) -> None:
        """Cut off who is still there, so that its task ends as if the client had left: nothing is cancelled."""
        await self._wait_while(lambda: bool(self.server_state.connections), HANG_UP_AFTER_S)
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()
        if self.server_state.tasks:
            await asyncio.wait(tuple(self.server_state.tasks), timeout=HANG_UP_AFTER_S)

    async def _wait_while(self, claim: Callable[[], bool], within_s: float) -> None:
        until = time.monotonic() + within_s
        while claim() and not self.force_exit and time.monotonic() < until:  # noqa: ASYNC110 — uvicorn tells no event
            await asyncio.sleep(POLL_S)

    def _close_half_open(self, now: float) -> None:
        waiting: dict[object, tuple[object, float]] = {}
        for connection in tuple(self.server_state.connections):
            # uvicorn's timer for kept connections begins after an answer, and any byte stops it.
            last = getattr(connection, "cycle", None)
            if last is not None and not last.response_complete:
                continue
            since = now
            if (seen := self._heads.get(connection)) and seen[0] is last:
                since = seen[1]
            if now - since > HEAD_S_MAX:
                connection.shutdown()
            else:
                waiting[connection] = (last, since)
        self._heads = waiting


def _no_advice(record: logging.LogRecord) -> bool:
    """An upgrade that is asked for is one line of the log; what to install is no advice for who runs a cell."""
    return not record.getMessage().startswith("No supported WebSocket library")
