"""`kvfence serve` told to stop: every client gets an end that says why, and the log has no traceback."""

import json
import signal
import socket
import threading
from pathlib import Path

import httpx

from support.programs import served, shared_memory_of, wait_until, workers_of

CLIENTS = 24
LONG = {"prompt": "ab " * 100, "max_tokens": 900}
"""Far more tokens for so many clients at once than any grace allows."""


class Clients:
    """So many clients at once, every second one streaming: how each of them ended."""

    def __init__(self, url):
        self.ends = []
        self.began = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._ask, args=(url, bool(n % 2))) for n in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _ask(self, url, stream):
        with httpx.stream("POST", f"{url}/completions", json={**LONG, "stream": stream}, timeout=60) as response:
            lines = []
            for line in filter(None, response.iter_lines()):
                lines.append(line)
                if len(lines) == 3:
                    self.began.release()
        last = lines[-1].removeprefix("data: ")
        self.ends.append((response.status_code, last if last == "[DONE]" else json.loads(last)))

    def join(self):
        for thread in self._threads:
            thread.join(timeout=60)


def figure(url, name):
    text = httpx.get(url.removesuffix("/v1") + "/metrics").text
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


def kind_of(end):
    status, last = end
    if last == "[DONE]":
        return "whole"
    if "error" not in last:
        return "whole" if "usage" in last else f"cut off: {last}"
    code = last["error"]["code"]
    return f"{status} {code}"


def test_sigterm_under_load_ends_every_client_with_the_reason():
    """503, or an error event of a stream that has begun; no 500, no traceback, exit 0, nothing left behind."""
    with served("--context", "2048", "--workers", "process") as (url, lines):
        process = served.last
        workers, segments = workers_of(process), shared_memory_of(process)
        clients = Clients(url)
        wait_until(lambda: figure(url, "kvfence_rooms_open") == CLIENTS)
        assert clients.began.acquire(timeout=30)
        process.send_signal(signal.SIGTERM)
        clients.join()
        process.wait(timeout=30)
    kinds = {kind_of(end) for end in clients.ends}
    assert len(clients.ends) == CLIENTS
    assert kinds <= {"whole", "503 server-stopping", "200 server-stopping"}
    assert {"503 server-stopping", "200 server-stopping"} <= kinds
    assert not [line for line in lines if "Traceback" in line or "Error" in line], lines
    assert process.returncode == 0
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    wait_until(lambda: not any(segment.exists() for segment in segments))


def test_while_it_stops_new_requests_are_told_and_those_who_do_not_read_or_send_hold_nothing_up():
    """A 503 that names the reason, /health as well; a body half sent and a stream nobody reads end with the server."""
    with served("--context", "2048") as (url, lines):
        process = served.last
        address = httpx.URL(url)
        half = socket.create_connection((address.host, address.port))
        half.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{")
        body = json.dumps({**LONG, "stream": True}).encode()
        unread = socket.create_connection((address.host, address.port))
        unread.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        clients = Clients(url)
        wait_until(lambda: figure(url, "kvfence_rooms_open") == CLIENTS + 1)
        with half, unread:
            process.send_signal(signal.SIGTERM)
            wait_until(lambda: httpx.get(f"{url.removesuffix('/v1')}/health").status_code == 503)
            late = httpx.post(f"{url}/completions", json={"prompt": "ab"}, timeout=30)
            clients.join()
            process.wait(timeout=30)
    assert (late.status_code, late.json()["error"]["code"]) == (503, "server-stopping")
    assert not [line for line in lines if "Traceback" in line or "Error" in line], lines
    assert process.returncode == 0
