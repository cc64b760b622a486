"""Tasks on a Ray cluster, or on one begun here. Ray carries what to do and which is done, never a text."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError
from ray.util.actor_pool import ActorPool

from kvfence.errors import TargetError, UnsupportedError
from kvfence.scan.passing.choice import HERE
from kvfence.scan.passing.task import Job, T, Task
from kvfence.scan.secrecy import no_core_dumps

TRIES = 4
"""So often a task is begun before it counts as one that kills its worker."""
_CONNECT_S = 10
_AT_A_TIME = 2
"""Tasks that a worker has at hand: one that it does, and the next."""


class OnRay:
    """Runs tasks on so many workers. All nodes must see the inputs and the work folder under the same paths."""

    def __init__(self, address: str, workers: int) -> None:
        self._address = address
        self._workers = workers

    def run(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        """See `Engine`. A worker that dies is begun again, and does its task once more.

        Raises:
            TargetError: no Ray is there.
        """
        try:
            self._connect()
            remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=TRIES - 1)(_RayWorker)
            held = ray.put(job)  # a worker that begins again needs it, and Ray forgets what nobody holds
            workers = [remote.remote(held, folder.resolve()) for _ in range(min(self._workers, len(tasks)))]
            pool: Any = ActorPool(workers)
            todo = [task.rooted() for task in tasks]
            yield from pool.map_unordered(lambda worker, task: worker.run.remote(task), todo)
        except RayActorError:
            raise UnsupportedError(
                f"Ray's workers died {TRIES} times over one piece, most likely for want of memory; go on with fewer "
                "--workers, or nodes that have more"
            ) from None
        finally:
            ray.shutdown()

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        is_here = self._address == HERE
        try:
            _check_listening(self._address)
            ray.init(
                address=self._address,
                num_cpus=self._workers if is_here else None,
                include_dashboard=False if is_here else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except OSError as error:
            raise TargetError(f"--ray {self._address}: no Ray cluster there; give its address, or {HERE}") from error


class _RayWorker:
    def __init__(self, job: Job[Any], folder: Path) -> None:
        no_core_dumps()
        self._do = job.worker(folder)

    def run(self, task: Task) -> int:
        return self._do(task)


def _check_listening(address: str) -> None:
    """Ray waits for minutes for a cluster that is not there, and then ends the process."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
