"""Starting and stopping prefill and decode: as threads of this process, or as processes that share their pools.

Both kinds run the same drivers with the same wire; only mailboxes and stores differ. No decision lives here.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import random
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kvfence.cell.config import CellConfig, Hosting
from kvfence.cell.decode import DecodeDriver
from kvfence.cell.driver import Driver, Plumbing
from kvfence.cell.frames import Control, Inbox, Outbox, Parcel
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.prefill import PrefillDriver
from kvfence.cell.transports.base import PageWire
from kvfence.cell.transports.local import LocalWire
from kvfence.cell.transports.slow import SlowWire
from kvfence.core.ids import Role

WORKER_ROLES = (Role.PREFILL, Role.DECODE)
STOP_WAIT_S = 10.0
"""How long a worker may take to end its slice of work after it was told to stop."""


class Workers(Protocol):
    """Prefill and decode, running."""

    inbox: Inbox
    outboxes: Mapping[Role, Outbox]

    def alive(self) -> Mapping[Role, bool]:
        """Which of them run."""
        ...

    def stop(self) -> None:
        """Tell them to stop, wait, and give back what they held. Safe to call twice."""
        ...


def start_workers(config: CellConfig) -> Workers:
    """Start both workers as the config says."""
    return ProcessWorkers(config) if config.hosting is Hosting.PROCESS else ThreadWorkers(config)


def new_driver(role: Role, config: CellConfig, plumbing: Plumbing) -> Driver:
    """The driver of that role."""
    return PrefillDriver(config, plumbing) if role is Role.PREFILL else DecodeDriver(config, plumbing)


def new_wire(role: Role, config: CellConfig, own: PagedKV, peer: PagedKV) -> PageWire:
    """The wire of that role: at once, or as late as the config says."""
    wire = LocalWire(own, peer)
    if not config.wire_delay_s:
        return wire
    rng = random.Random(f"wire of {role}")  # noqa: S311 — the same delays in every run, nothing to guess
    return SlowWire(wire, config.wire_delay_s, time.monotonic, rng)


class ThreadWorkers:
    """Two threads; their stores are plain memory of this process."""

    def __init__(self, config: CellConfig, stores: Mapping[Role, PagedKV] | None = None) -> None:
        """`stores` are those of stopped workers of the same sizes, to be used again; new ones if not given."""
        boxes: dict[Role, queue.SimpleQueue[Parcel]] = {role: queue.SimpleQueue() for role in Role}
        self.inbox: Inbox = boxes[Role.ROUTER]
        self.outboxes: Mapping[Role, Outbox] = boxes
        self.stores = stores or {role: PagedKV.private(config, role) for role in WORKER_ROLES}
        self.drivers = {role: new_driver(role, config, self._plumbing(role, config, boxes)) for role in WORKER_ROLES}
        self._threads = {
            role: threading.Thread(target=driver.run, name=f"kvfence-{role}", daemon=True)
            for role, driver in self.drivers.items()
        }
        for thread in self._threads.values():
            thread.start()

    def alive(self) -> Mapping[Role, bool]:
        """Which threads run."""
        return {role: thread.is_alive() for role, thread in self._threads.items()}

    def stop(self) -> None:
        """Ask both to stop and wait for them."""
        for role in WORKER_ROLES:
            self.outboxes[role].put(Control.STOP)
        for thread in self._threads.values():
            thread.join(timeout=STOP_WAIT_S)

    def _plumbing(self, role: Role, config: CellConfig, boxes: Mapping[Role, queue.SimpleQueue[Parcel]]) -> Plumbing:
        own, peer = self.stores[role], self.stores[_peer(role)]
        wire = new_wire(role, config, own, peer)
        return Plumbing(store=own, wire=wire, inbox=boxes[role], outboxes=boxes, clock=time.monotonic)


@dataclass(frozen=True, slots=True)
class _Shared:
    """What a worker process needs to find its pools and mailboxes. Pickled once, at its start."""

    config: CellConfig
    segments: Mapping[Role, str]
    boxes: Mapping[Role, multiprocessing.Queue[Parcel]]


class ProcessWorkers:
    """Two processes. The pools lie in shared memory, so a push is a write into the other process's pages."""

    def __init__(self, config: CellConfig) -> None:
        context = multiprocessing.get_context("spawn")
        boxes: dict[Role, multiprocessing.Queue[Parcel]] = {role: context.Queue() for role in Role}
        self.inbox: Inbox = boxes[Role.ROUTER]
        self.outboxes: Mapping[Role, Outbox] = boxes
        self._boxes = boxes
        self._stores = {role: PagedKV.shared(config, role) for role in WORKER_ROLES}
        shared = _Shared(config, {role: store.segment for role, store in self._stores.items()}, boxes)
        self._processes = {
            role: context.Process(target=_run_process, args=(role, shared), name=f"kvfence-{role}", daemon=True)
            for role in WORKER_ROLES
        }
        for process in self._processes.values():
            process.start()

    def alive(self) -> Mapping[Role, bool]:
        """Which processes run."""
        return {role: process.is_alive() for role, process in self._processes.items()}

    def stop(self) -> None:
        """Ask both to stop, end those that do not, and give the shared memory back."""
        for role, process in self._processes.items():
            if process.is_alive():
                self.outboxes[role].put(Control.STOP)
        for process in self._processes.values():
            process.join(timeout=STOP_WAIT_S)
            if process.is_alive():
                process.kill()
                process.join()
        for box in self._boxes.values():
            box.cancel_join_thread()
            box.close()
        for store in self._stores.values():
            store.close(unlink=True)
        self._stores = {}


def _end_with_parent() -> None:
    """A worker never outlives the process that started it, however that one ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_process(role: Role, shared: _Shared) -> None:
    for order in (signal.SIGINT, signal.SIGTERM):  # a terminal and systemd tell the whole group
        signal.signal(order, signal.SIG_IGN)  # the parent decides when to stop
    threading.Thread(target=_end_with_parent, name="kvfence-parent", daemon=True).start()
    stores = {other: PagedKV.attached(shared.config, other, name) for other, name in shared.segments.items()}
    own, peer = stores[role], stores[_peer(role)]
    plumbing = Plumbing(
        store=own,
        wire=new_wire(role, shared.config, own, peer),
        inbox=shared.boxes[role],
        outboxes=shared.boxes,
        clock=time.monotonic,
    )
    try:
        new_driver(role, shared.config, plumbing).run()
    finally:
        for store in stores.values():
            store.close()


def _peer(role: Role) -> Role:
    return Role.DECODE if role is Role.PREFILL else Role.PREFILL
