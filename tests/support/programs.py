"""The real program as a subprocess, and small real servers that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Ran:
    """What one run of the program did."""

    code: int
    out: str
    err: str


def run_kvfence(*args: str, stdin: str | bytes | None = None, cwd: object = None, timeout: float = 100) -> Ran:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "kvfence", *args], input=data, capture_output=True, timeout=timeout, check=False, cwd=cwd
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def assert_one_clear_line(ran: Ran, *words: str) -> None:
    """Exit code 2, one line on standard error that has these words, no traceback."""
    assert ran.code == 2, ran
    lines = ran.err.strip().splitlines()
    assert len(lines) == 1, ran.err
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err


@contextlib.contextmanager
def served(*args: str) -> Iterator[tuple[str, list[str]]]:
    """`kvfence serve induction` on a free port: its URL, and the log lines so far."""
    command = [sys.executable, "-m", "kvfence", "serve", "induction", "--port", "0", *args]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        served.last = process  # type: ignore[attr-defined]  # for tests of how a server ends
        lines: list[str] = []
        ready = threading.Event()
        reader = threading.Thread(target=_read, args=(process, lines, ready), daemon=True)
        reader.start()
        try:
            assert ready.wait(60), lines
            url = next(match.group(1) for line in lines if (match := re.search(r"ready: url=(\S+)", line)))
            yield url, lines
        finally:
            process.terminate()
            process.wait(timeout=30)


def _read(process: subprocess.Popen[str], lines: list[str], ready: threading.Event) -> None:
    with contextlib.suppress(ValueError):  # the pipe is closed under us when the server was killed
        for line in process.stderr or ():
            lines.append(line.rstrip())
            if "kvfence cell ready" in line:
                ready.set()
    ready.set()


Misbehaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], "asyncio.Future[None] | object"]


@contextlib.contextmanager
def tcp_server(misbehave: Misbehaviour) -> Iterator[str]:
    """A server on loopback that treats every connection as `misbehave` says."""
    loop = asyncio.new_event_loop()
    started: list[asyncio.Server] = []

    async def start() -> None:
        started.append(await asyncio.start_server(misbehave, "127.0.0.1", 0))

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    port = started[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        started[0].close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def answering(status: str, body: bytes, kind: str = "application/json", *, cut: int = 0) -> Misbehaviour:
    """Answer every request the same; with `cut`, promise so many bytes more and hang up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        fields = (f"content-type: {kind}", f"content-length: {len(body) + cut}", "connection: close")
        writer.write("\r\n".join((f"HTTP/1.1 {status}", *fields, "", "")).encode() + body)
        await writer.drain()
        writer.close()

    return answer


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await reader.read()


def wait_until(claim: Callable[[], bool], within_s: float = 20.0) -> None:
    """Poll a claim about a running server until it holds."""
    until = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < until, "it did not come to hold"
        time.sleep(0.02)
