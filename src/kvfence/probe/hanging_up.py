"""A client that closes its connection on purpose: before the first byte of an answer, or in the middle of it."""

from __future__ import annotations

import asyncio
import contextlib

import httpx

from kvfence.probe.record import HangUp
from kvfence.probe.replies import Failure

_SENT = "http11.send_request_body.complete"
"""What httpcore calls the end of a request's sending."""
_EVENT_END = (b"\n\n", b"\r\n\r\n")


async def send_and_hang_up(
    http: httpx.AsyncClient, request: httpx.Request, when: HangUp, content: bytearray
) -> Failure:
    """Send all of a request, and close its connection at that point. What came by then is left in `content`.

    Raises what `httpx` does, where the connection ends before.
    """
    if when.pieces:
        return await _in_the_answer(http, request, when.pieces, content)
    sent = asyncio.Event()

    async def trace(name: str, _info: object) -> None:
        if name == _SENT:
            sent.set()

    request.extensions = {**request.extensions, "trace": trace}
    answer = asyncio.create_task(_read(http, request, content))
    waiting = asyncio.create_task(sent.wait())
    try:
        await asyncio.wait({answer, waiting}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({answer}, timeout=when.wait_s)
    finally:
        for task in (answer, waiting):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await answer
    return Failure(f"hung up on purpose {when.wait_s:.3f} s after it was sent")


async def _in_the_answer(http: httpx.AsyncClient, request: httpx.Request, pieces: int, content: bytearray) -> Failure:
    response = await http.send(request, stream=True)
    try:
        async for some in response.aiter_bytes():
            content += some
            if max(content.count(end) for end in _EVENT_END) >= pieces:
                break
    finally:
        await response.aclose()
    return Failure(f"hung up on purpose after {pieces} pieces of its answer")


async def _read(http: httpx.AsyncClient, request: httpx.Request, content: bytearray) -> None:
    response = await http.send(request, stream=True)
    try:
        async for some in response.aiter_bytes():
            content += some
    finally:
        await response.aclose()
