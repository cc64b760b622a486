"""How a campaign is asked to end early.

Asked once, nothing more is sent, and what has been sent is waited for: its answer is paid for, and would be again when
the campaign goes on. Asked once more, that is given up as well: its markers are planted, its answer is never known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stop:
    """One campaign's brake. All of it is for the thread of its event loop."""

    by: str = ""
    """Who asked first, in a word or two; empty: nobody has."""
    is_at_once: bool = False
    """What has been sent is not waited for any more."""
    given_up: int = 0
    """Requests that were sent and not waited for."""
    _tasks: set[asyncio.Task[object]] = field(default_factory=set, init=False)
    _sent: set[asyncio.Task[object]] = field(default_factory=set, init=False)
    """Those whose request is on its way."""

    def ask(self, by: str) -> None:
        """Ask the campaign to end, or, where that was asked before, to end at once."""
        self.is_at_once = bool(self.by)
        self.by = self.by or by
        for task in self._tasks if self.is_at_once else self._tasks - self._sent:
            task.cancel()

    def may_cancel(self, tasks: Iterable[asyncio.Task[object]]) -> None:
        """These are under way now, and no others."""
        self._tasks, self._sent = set(tasks), set()

    def is_sending(self) -> None:
        """The task that calls sends its request now."""
        if (task := asyncio.current_task()) is not None:
            self._sent.add(task)

    @property
    def waited_for(self) -> int:
        """Requests whose answers are still to come."""
        return sum(not task.done() for task in self._sent)
