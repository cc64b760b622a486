"""A registry as the memory of an application's own canaries: campaigns know theirs by it, and they know campaigns'.

For any thread and across forks. It never keeps a call waiting for long: where another program writes just then, the
marker is not planted, and what watches the calls counts that as a fault of its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Self

from kvfence.probe.canaries.memory import Planted
from kvfence.probe.registry.planted import PlantedPrompt, Remembered, known_application, storable
from kvfence.probe.registry.registry_file import RegistryFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WAIT_S = 0.2
"""How long a call may wait for another program that writes."""
APPLICATION = "an application"


class RegistryOfCalls:
    """One file, for the `registry=` of `probe.canary` and `probe.wrap`; a context manager."""

    def __init__(
        self,
        path: Path | str,
        *,
        application: str = APPLICATION,
        busy_s: float = WAIT_S,
        clock: Callable[[], float] = time,
    ) -> None:
        """Open it, or make it.

        Args:
            path: where it is.
            application: whose calls these are; a leak elsewhere names it, and the owner of the call.
            busy_s: how long a call may wait for another program that writes.
            clock: seconds since 1970.

        Raises:
            UsageError: it is another kind of file, or of a newer version.
            TargetError: it cannot be read, or not written.
        """
        self._path = Path(path).absolute()  # an application may change its folder
        self._busy_s = busy_s
        self._clock = clock
        self._known = known_application(application)
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._file = self._opened()
        self._process = os.getpid()
        with self._open() as file:
            file.begin(self._known)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._file.close()

    def plant(self, planted: Planted) -> None:
        """Remember a marker, before the prompt that carries it is sent. Raises `TargetError`."""
        when_s = self._clock() if planted.planted_s is None else planted.planted_s
        with self._open() as file:
            file.plant(
                PlantedPrompt(
                    campaign=self._known.id,
                    tenant=storable(planted.owner),
                    request=next(self._numbers),
                    tokens=0,
                    planted_ms=max(0, int(when_s * 1000)),
                    markers=(planted.text,),
                )
            )

    def whose(self, pieces: frozenset[str]) -> Iterable[Planted]:
        """The markers that have at least one of these pieces, of whomever. Raises `TargetError`."""
        with self._open() as file:
            found = file.whose(pieces)
        return tuple({one.text: Planted(one.text, self._owner(one), one.origin.planted_s) for one in found}.values())

    def _owner(self, one: Remembered) -> str:
        if one.origin.campaign == self._known.id:
            return one.tenant
        if one.origin.is_of_application:
            return f"{one.tenant} of {one.origin.endpoint}"
        return f"{one.tenant} of campaign {one.origin.campaign} at {one.origin.endpoint}"

    @contextmanager
    def _open(self) -> Iterator[RegistryFile]:
        """The file, for one thread at a time; a process that was forked opens its own."""
        with self._lock:
            if self._process != os.getpid():
                self._file, self._process = self._opened(), os.getpid()
            yield self._file

    def _opened(self) -> RegistryFile:
        return RegistryFile(self._path, busy_s=self._busy_s)


def open_registry(path: Path | str, *, application: str = APPLICATION) -> RegistryOfCalls:
    """A registry that canaries of one's own share with campaigns (`kvfence probe --registry`): `RegistryOfCalls`."""
    return RegistryOfCalls(path, application=application)
