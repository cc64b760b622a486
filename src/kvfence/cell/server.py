"""The cell as a server: workers, router and HTTP face, started and stopped together."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker

import kvfence
from kvfence.cell.config import CellConfig, Hosting, start_line
from kvfence.cell.http_server import HttpServer
from kvfence.cell.openai_app import build_app
from kvfence.cell.router import RouterDriver
from kvfence.cell.workers import WORKER_ROLES, Workers, start_workers
from kvfence.core.ids import Role
from kvfence.errors import TargetError

LOG = logging.getLogger("kvfence.cell")
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class RunningCell:
    """A cell that answers at `url`."""

    url: str
    """Such as `http://127.0.0.1:8000/v1`."""
    router: RouterDriver
    workers: Workers


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, so that a port in use is one clear line before anything else starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        reason = told.partition(" (while")[0].rstrip(".")  # Python repeats the address here
        raise TargetError(
            f"cannot listen on {host}:{port}: {reason}. Choose another --host or --port; --port 0 takes any free one"
        ) from error


def serve(config: CellConfig, bound: socket.socket) -> None:
    """Serve on `bound` until SIGINT or SIGTERM; then end all requests, stop the workers and return."""
    # uvicorn shuts down on either signal and then raises it again: as an exception it lets workers be stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if config.hosting is Hosting.PROCESS:
        resource_tracker.ensure_running()  # started later, it would let signals through again
    _hold_signals()  # not while workers start or stop; and worker processes inherit it: their parent decides
    workers = start_workers(config)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        server, router = _server(config, workers)
        LOG.info("kvfence cell ready: url=%s max_model_len=%d", _url(bound), router.usable_tokens)
        asyncio.run(_serve(server, router, bound))
    except KeyboardInterrupt:
        LOG.info("kvfence cell stopped")
    finally:
        _hold_signals()
        workers.stop()


def _hold_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)


@contextmanager
def running_cell(config: CellConfig, bound: socket.socket | None = None) -> Iterator[RunningCell]:
    """A cell that serves from a thread of this process for as long as the block runs."""
    bound = bound or listen("127.0.0.1", 0)
    workers = start_workers(config)
    server, router = _server(config, workers)
    thread = threading.Thread(target=asyncio.run, args=(_serve(server, router, bound),), name="kvfence-http")
    thread.start()
    try:
        yield RunningCell(_url(bound), router, workers)
    finally:
        server.should_exit = True
        thread.join()
        workers.stop()


def _server(config: CellConfig, workers: Workers) -> tuple[HttpServer, RouterDriver]:
    for role in WORKER_ROLES:
        LOG.info("%s", start_line(config, role, kvfence.__version__))
    outboxes = {role: workers.outboxes[role] for role in WORKER_ROLES}
    router = RouterDriver(
        config, inbox=workers.inbox, own=workers.outboxes[Role.ROUTER], outboxes=outboxes, alive=workers.alive
    )
    return HttpServer(build_app(router), router), router


async def _serve(server: HttpServer, router: RouterDriver, bound: socket.socket) -> None:
    router.start(asyncio.get_running_loop())
    try:
        with bound:
            await server.serve(sockets=[bound])
    finally:
        router.stop()


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
