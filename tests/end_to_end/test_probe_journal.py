"""A campaign that is cut off goes on: nothing lost, nothing asked twice, the same verdict."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kvfence.errors import UsageError
from kvfence.findings.recall import ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.journal import Journal
from support.probe_servers import Behaviour, endpoint
from support.programs import assert_one_clear_line, run_kvfence

A = Tenant(name="tenant-a", api_key="key-a", salt="salt-a")
B = Tenant(name="tenant-b", api_key="key-b", salt="salt-b")
WHOLE_RUN = 10
"""Requests of the plan against an honest endpoint."""


class Stopped(Exception):  # noqa: N818 — not an error of the product
    """The machine lost its power here."""


class StopsAfter(Journal):
    """A journal whose program dies when it has sent so many requests, before or after the last one's end is noted."""

    def __init__(self, path: Path, requests: int, *, noted: bool) -> None:
        super().__init__(path)
        self._left = requests
        self._noted = noted

    def ended(self, exchange):
        self._left -= 1
        if self._left or self._noted:
            super().ended(exchange)
        if not self._left:
            raise Stopped


def options(url, seed=7):
    target = Target(base_url=url, timeout_s=20)
    return Options(target=target, seeders=(A,), harvester=B, bounds=Bounds(), seed=seed, key=b"key")


@pytest.mark.parametrize(
    ("behaviour", "verdict", "after", "noted"),
    [
        (Behaviour(), ProbeVerdict.CLEAN, 1, False),
        (Behaviour(), ProbeVerdict.CLEAN, 9, True),
        (Behaviour(unknown_fields=("cache_salt",)), ProbeVerdict.CLEAN, 9, False),
        (Behaviour(counts=(), chars_a_token=2.0), ProbeVerdict.CLEAN, 4, True),
        (Behaviour(limit=5312, beyond="leak"), ProbeVerdict.LEAK, 6, False),
    ],
)
def test_a_campaign_goes_on_from_where_it_was_cut_off(tmp_path, behaviour, verdict, after, noted):
    """The verdict is that of an unbroken run, and only the request that was cut off is made again."""
    path = tmp_path / "campaign.sqlite"
    with endpoint(behaviour) as whole:
        expected = run(options(whole.url))
    with endpoint(behaviour) as server:
        with pytest.raises(ExceptionGroup), StopsAfter(path, after, noted=noted) as journal:
            run(options(server.url), recorder=journal)
        with Journal(path) as journal:
            result = run(options(server.url), recorder=journal)
    assert result.verdict is expected.verdict is verdict
    assert [(row.tokens, row.verdict) for row in result.lengths] == [
        (row.tokens, row.verdict) for row in expected.lengths
    ]
    assert result.requests == expected.requests + (not noted)
    assert len(server.asked) == len(whole.asked) + (not noted)


def test_a_finished_campaign_asks_nothing_more(tmp_path):
    """And says the same again."""
    with endpoint() as server:
        results = []
        for _ in range(2):
            with Journal(tmp_path / "campaign.sqlite") as journal:
                results.append(run(options(server.url), recorder=journal))
    assert results[0].lengths == results[1].lengths
    assert len(server.asked) == WHOLE_RUN


def test_a_marker_of_a_request_that_was_cut_off_is_still_known(tmp_path):
    """What it planted may come back later, and is told as the other tenant's."""
    path = tmp_path / "campaign.sqlite"
    with endpoint() as server:
        with pytest.raises(ExceptionGroup), StopsAfter(path, 2, noted=False) as journal:
            run(options(server.url), recorder=journal)
        server.now(limit=3000, beyond="leak")
        server.prompts = server.prompts[:2]
        with Journal(path) as journal:
            result = run(options(server.url), recorder=journal)
    assert result.verdict is ProbeVerdict.LEAK


def test_a_journal_of_another_campaign_is_refused(tmp_path):
    """By what it is told to be of, before anything is asked."""
    path = tmp_path / "campaign.sqlite"
    with endpoint() as server, endpoint() as other:
        with Journal(path) as journal:
            run(options(server.url), recorder=journal)
        asked = len(server.asked)
        for again, said in (
            (options(other.url), "of another campaign"),
            (options(server.url, seed=8), "seed 7, not 8"),
        ):
            with Journal(path) as journal, pytest.raises(UsageError, match=said):
                run(again, recorder=journal)
        assert (len(server.asked), len(other.asked)) == (asked, 0)


def test_what_is_no_journal_is_one_clear_line(tmp_path):
    """A text, another program's database, a folder, a folder that is not there."""
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 20)
    with sqlite3.connect(tmp_path / "other") as database:
        database.execute("CREATE TABLE theirs (id)")
    database.close()
    for name in ("text", "other", "", "no/such/folder"):
        ran = run_kvfence("probe", "http://127.0.0.1:9/v1", "--journal", str(tmp_path / name))
        assert_one_clear_line(ran, "name another file")


def test_a_killed_program_goes_on(tmp_path):
    """SIGKILL in the middle, then the same command again; nobody else can read the file."""
    path = tmp_path / "campaign.sqlite"
    with endpoint() as server:
        command = [sys.executable, "-m", "kvfence", "probe", server.url, "--journal", str(path), "--scenario", "sweep"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while len(server.asked) < 3 and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = len(server.asked)
        ran = run_kvfence(*command[3:])
        asked = len(server.asked)
    assert before >= 3
    assert ran.code == 0, ran.err
    assert asked <= WHOLE_RUN + 1
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600  # noqa: PTH116 — the file's own bits
