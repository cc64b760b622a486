"""Real engines' servers as processes of their own: started with a log, awaited, and stopped with all they started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_S = 1200.0
"""65 s for both of a pair on two idle cores; 11 minutes were seen on two cores that others used as well."""

_PATIENCE_S = 600.0
"""For an answer, or the end of a killed process: at a load of 21 on two cores 120 s and 60 s were not enough."""


@dataclass(frozen=True)
class Worker:
    """One role: where it answers, and what it has printed."""

    url: str
    log: Path


@dataclass(frozen=True)
class Answer:
    """What one request got: a status, and the body of it."""

    status: int
    body: dict[str, Any]


@contextlib.contextmanager
def engine_process(
    command: Sequence[str], log: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A server that writes to this log; killed with its whole group when the block ends."""
    everything = {**os.environ, **environment}
    everything.pop("PYTHONDONTWRITEBYTECODE", None)  # each role imports some ten thousand modules, in three processes
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=everything, start_new_session=True)
        try:
            yield process
        finally:
            # Its scheduler and its workers are processes of their own, in this session's group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=_PATIENCE_S)


def wait_ready(
    processes: Sequence[subprocess.Popen[bytes]], workers: Sequence[Worker], is_ready: Callable[[Worker], bool]
) -> None:
    """Until all are ready to serve; the end of the log where one is not."""
    until = time.monotonic() + START_S
    for process, worker in zip(processes, workers, strict=True):
        while not is_ready(worker):
            tail = worker.log.read_bytes()[-2000:].decode("utf-8", "replace")
            assert process.poll() is None, f"it ended before it was ready:\n{tail}"
            assert time.monotonic() < until, f"not ready within {START_S:.0f} s:\n{tail}"
            time.sleep(1)


def post(url: str, body: Mapping[str, Any]) -> Answer:
    """Send JSON; an error's body too."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
            return Answer(answer.status, json.load(answer))
    except urllib.error.HTTPError as error:
        return Answer(error.code, json.loads(error.read() or b"{}"))


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])
