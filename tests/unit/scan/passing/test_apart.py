"""An engine in a process of its own gives the same, and where it dies that is said in a line."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass

import pytest

from kvfence.errors import TargetError, UnsupportedError
from kvfence.scan.passing.apart import Apart


@dataclass(frozen=True)
class Numbers:
    """An engine that does nothing, and then what it is told to do."""

    at_the_end: str

    def run(self, job, tasks, folder):
        del job
        try:
            yield from tasks
            self._end()
        finally:
            if folder:
                folder.touch()

    def _end(self):
        match self.at_the_end:
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "ended":
                os._exit(1)
            case "refused":
                raise TargetError("--somewhere: nobody is there")
            case "full":
                raise OSError(28, "No space left on device")
            case "waits":
                signal.pause()


def run(at_the_end):
    return Apart("The engine", Numbers, (at_the_end,)).run(None, [3, 1, 2], None)


def test_the_numbers_come_in_the_order_in_which_they_are_done():
    assert [*run("nothing")] == [3, 1, 2]


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_a_process_that_dies_is_told_in_one_line_after_what_it_did(how):
    done = run(how)
    assert [next(done), next(done), next(done)] == [3, 1, 2]
    with pytest.raises(UnsupportedError, match=r"^The engine died on this machine .* --work the same command goes on"):
        next(done)


@pytest.mark.parametrize(("how", "error", "said"), [("refused", TargetError, "nobody"), ("full", OSError, "No space")])
def test_an_error_of_the_engine_is_raised_as_it_is(how, error, said):
    with pytest.raises(error, match=said):
        list(run(how))


def test_what_is_given_up_ends_what_it_began_and_leaves_no_process(tmp_path):
    done = Apart("The engine", Numbers, ("waits",)).run(None, [3, 1, 2], tmp_path / "ended")
    assert [next(done), next(done), next(done)] == [3, 1, 2]
    done.close()
    assert (tmp_path / "ended").exists()

    assert multiprocessing.active_children() == []
