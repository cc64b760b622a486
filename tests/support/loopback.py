"""A real server on a free port of loopback, for as long as a `with` lasts."""

from __future__ import annotations

import contextlib
import socketserver
import threading
from collections.abc import Iterator


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128
    """Five unless said: of ten connections opened at once the last would be tried again after a second."""


@contextlib.contextmanager
def on_loopback(handler: type[socketserver.BaseRequestHandler]) -> Iterator[str]:
    """Every connection gets a `handler` in a thread of its own. The server's root URL."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
