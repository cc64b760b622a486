"""What an engine is given: a job, which makes a worker in each process, and tasks that any worker can do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self, TypeVar


class Task(Protocol):
    """A frozen value that can be pickled."""

    @property
    def number(self) -> int:
        """Another one for each task of a job; results lie in the order of these."""

    @property
    def size(self) -> int:
        """How much of the job it is, by which progress is told: bytes, or another measure."""

    @property
    def where(self) -> str:
        """What it is done with, as it is printed."""

    def rooted(self) -> Self:
        """The same where its paths are followed from another folder, in a process that was not begun in this one."""


T = TypeVar("T", bound=Task)
T_contra = TypeVar("T_contra", bound=Task, contravariant=True)


class Job(Protocol[T_contra]):
    """A frozen value that can be pickled."""

    def worker(self, folder: Path) -> Callable[[T_contra], int]:
        """Called once in each process: what is slow to set up is set up here.

        What it returns does a task, leaves its rows in the folder, whole or not at all, and returns its number.
        """
