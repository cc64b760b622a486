"""Ctrl-C and SIGTERM while a probe runs: the first ends it in order, the second at once, the third by force."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

from kvfence.probe.stop import Stop

GRACE_S = 20.0
"""After SIGTERM: whoever sent it, such as Kubernetes or systemd, sends SIGKILL 30 seconds or more later."""
BY_FORCE = 3
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


@contextlib.contextmanager
def stopping(stop: Stop, say: Callable[[str], None]) -> Iterator[None]:
    """Let both signals ask `stop`, for as long as a `with` in an event loop lasts; `say` tells what is waited for."""
    loop = asyncio.get_running_loop()
    came = 0

    def ask(by: str) -> None:
        stop.ask(by)
        if not stop.is_at_once and stop.waited_for:
            say(_waiting(stop.waited_for))

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came += 1
        if came >= BY_FORCE:
            signal.default_int_handler(number, frame)
        loop.call_soon_threadsafe(ask, _NAMES[signal.Signals(number)])
        if number == signal.SIGTERM and came == 1:
            loop.call_soon_threadsafe(loop.call_later, GRACE_S, ask, _NAMES[signal.SIGTERM])

    before = {number: signal.signal(number, on_signal) for number in _NAMES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _waiting(requests: int) -> str:
    what = "the answer to a request that was sent" if requests == 1 else f"{requests} answers to what was sent"
    return f"stopping: waiting for {what}, so that it is not paid for twice; Ctrl-C once more gives it up"
