"""The real program as a subprocess, and small real servers that misbehave."""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from support.loopback import on_loopback


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


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that a server with `--workers process` has started."""
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split()]


def shared_memory_of(process: subprocess.Popen[str]) -> set[Path]:
    """The segments that a server has mapped: its own, whatever other servers run on this machine."""
    mapped = (line.split()[-1] for line in Path(f"/proc/{process.pid}/maps").read_text("utf-8").splitlines())
    return {Path(name) for name in mapped if name.startswith("/dev/shm/psm_")}


def _read(process: subprocess.Popen[str], lines: list[str], ready: threading.Event) -> None:
    with contextlib.suppress(ValueError):  # the pipe is closed under us when the server was killed
        for line in process.stderr or ():
            lines.append(line.rstrip())
            if "kvfence cell ready" in line:
                ready.set()
    ready.set()


Misbehaviour = Callable[[socket.socket], None]
"""What a server does with a connection; it is closed after."""


@contextlib.contextmanager
def tcp_server(misbehave: Misbehaviour) -> Iterator[str]:
    """A server on loopback that treats every connection as `misbehave` says."""

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                misbehave(self.request)

    with on_loopback(Connection) as url:
        yield f"{url}/v1"


def answering(status: str, body: bytes, kind: str = "application/json", *, cut: int = 0) -> Misbehaviour:
    """Answer every request the same; with `cut`, promise so many bytes more and hang up."""
    fields = (f"content-type: {kind}", f"content-length: {len(body) + cut}", "connection: close")
    answer = "\r\n".join((f"HTTP/1.1 {status}", *fields, "", "")).encode() + body

    def misbehave(connection: socket.socket) -> None:
        with connection.makefile("rb") as request:
            length = 0
            while (line := request.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            request.read(length)
        connection.sendall(answer)

    return misbehave


def silent(connection: socket.socket) -> None:
    """Take the request and say nothing, until the client gives up."""
    while connection.recv(65_536):
        pass


def wait_until(claim: Callable[[], bool], within_s: float = 20.0) -> None:
    """Poll a claim about a running server until it holds."""
    until = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < until, "it did not come to hold"
        time.sleep(0.02)
