"""A probe that is stopped: what it has found, what that cost, how to go on; nothing lost, nothing paid twice."""

import asyncio
import re
import shlex
import signal
import subprocess
import sys

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.findings.verdict import Verdict
from kvfence.probe.drive import probe
from kvfence.probe.front import options_for
from kvfence.probe.stop import Stop
from support.probe_servers import Behaviour, endpoint
from support.programs import run_kvfence, silent, tcp_server, wait_until

SWEEP = ("--scenario", "sweep")
WHOLE_RUN = 10
"""Requests of the plan against an honest endpoint."""


def started(*args):
    command = [sys.executable, "-m", "kvfence", "probe", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return out, err.strip().splitlines()


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_the_first_signal_waits_for_what_is_paid_and_the_command_it_names_goes_on(tmp_path, number, name):
    """The answer under way is kept; the rest is asked by the command of the last line, and nothing twice."""
    with endpoint() as server:
        server.held_from = 2
        words = (*SWEEP, "--journal", str(tmp_path / "with space.sqlite"), "--price-in", "10", "--price-out", "20")
        process = started(server.url, *words)
        wait_until(lambda: len(server.asked) == 3)
        process.send_signal(number)
        assert "waiting for the answer to a request that was sent" in process.stderr.readline()
        server.released.set()
        out, told = ended(process)
        assert (process.returncode, len(server.asked)) == (3, 3)
        assert f"inconclusive: {name} stopped it before 4,096, 7,955" in out
        last = re.fullmatch(
            rf"stopped by {name} after 3 requests, 2,\d\d\d prompt and \d+ answer tokens for 0\.0\d+ US dollars; "
            r"to go on without asking anything twice: kvfence (.*)",
            told[-1],
        )
        ran = run_kvfence(*shlex.split(last.group(1)))
    assert (ran.code, len(server.asked)) == (0, WHOLE_RUN), ran


def test_the_second_signal_ends_it_at_once_and_counts_what_was_given_up(tmp_path):
    """No answer ever comes; what was given up is the only thing that is asked once more."""
    with endpoint() as server:
        server.held_from = 2
        words = (*SWEEP, "--journal", str(tmp_path / "campaign.sqlite"))
        process = started(server.url, *words)
        wait_until(lambda: len(server.asked) == 3)
        process.send_signal(signal.SIGINT)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, told = ended(process)
        server.released.set()
        assert process.returncode == 3
        assert "after 3 requests" in told[-1]
        assert "1 of them given up before the answer, which may be charged" in told[-1]
        ran = run_kvfence("probe", server.url, *words)
    assert (ran.code, len(server.asked)) == (0, WHOLE_RUN + 1), ran


def test_without_a_journal_it_says_that_nothing_is_kept():
    """And a report on standard output is whole."""
    with endpoint() as server:
        server.held_from = 2
        process = started(server.url, *SWEEP, "--format", "json")
        wait_until(lambda: len(server.asked) == 3)
        process.send_signal(signal.SIGINT)
        process.stderr.readline()
        server.released.set()
        out, told = ended(process)
    assert process.returncode == 3
    assert '"ended_by": "Ctrl-C stopped it"' in out
    assert told[-1].endswith("nothing of it is kept without --journal FILE: the next run begins anew and pays again")


def test_before_anything_is_asked_one_signal_is_enough():
    """The endpoint takes the connection and says nothing."""
    came = []

    def says_nothing(connection):
        came.append(connection)
        silent(connection)

    with tcp_server(says_nothing) as url:
        process = started(url)
        wait_until(lambda: bool(came))
        process.send_signal(signal.SIGTERM)
        out, told = ended(process)
    assert (process.returncode, out, told) == (
        3,
        "",
        ["stopped by SIGTERM before anything was asked; nothing was spent"],
    )


def test_a_leak_that_was_found_before_the_stop_stays_a_leak():
    """What is known to be bad beats what was not asked."""
    stop = Stop()

    def watch(progress):
        if dict(progress.answers).get(LengthVerdict.LEAK) and not stop.by:
            stop.ask("Ctrl-C")

    with endpoint(Behaviour(limit=3000, beyond="leak")) as server:
        result = asyncio.run(probe(options_for(server.url, 7, {}), watch, stop=stop))
    assert (result.verdict, result.outcome) == (ProbeVerdict.LEAK, Verdict.FOUND)
    assert result.ended_by == "Ctrl-C stopped it"
    assert result.unasked


def test_requests_that_were_not_sent_yet_are_not_waited_for():
    """Of a round in which four ask at once, those behind the first ones are never sent."""
    stop = Stop()
    before = []
    with endpoint() as server:

        def watch(progress):
            if progress.under_way > 1 and not stop.by:
                before.append(progress.asked)
                stop.ask("Ctrl-C")

        options = options_for(server.url, 7, {"concurrency": 4, "lengths": (1024,)})
        result = asyncio.run(probe(options, watch, stop=stop))
    assert before[0] <= result.requests == len(server.asked) < before[0] + 4
