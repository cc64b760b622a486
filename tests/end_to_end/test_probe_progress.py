"""How far a probe is: live on a terminal, a plain line now and then elsewhere, and never in a report's way."""

import asyncio
import io
import json
import threading
from dataclasses import replace

from rich.console import Console

from kvfence.cli.probe_progress import PlainLines, progress_of
from kvfence.probe import run
from kvfence.probe.drive import probe
from kvfence.probe.front import options_for
from support.probe_servers import Behaviour, endpoint
from support.programs import run_kvfence
from support.terminals import on_terminal

SWEEP = ("--scenario", "sweep")


def test_a_terminal_shows_what_is_tried_and_what_it_costs_and_is_clean_after():
    """While the third answer is out; the table is printed below, on the same terminal."""
    with endpoint() as server:
        server.held_from = 2
        words = (*SWEEP, "--seed", "7", "--budget-tokens", "20000", "--price-in", "10", "--price-out", "20")
        with on_terminal("probe", server.url, *words) as running:
            running.shows("sweep: 768 tokens (plants the other tenant's markers)")
            running.shows("2 of about 6 requests done")
            running.shows("s gone, then the budget of 20,000 tokens ends it")
            running.shows("1,854 of about 16,014 tokens (at most 20,000), 0.02 of about 0.17 US dollars")
            running.shows("answers so far: clean 2")
            server.released.set()
        assert "\x1b[2K" in running.drawn.decode()
    assert running.text.rindex("requests done") < running.text.index("declared context 8,192")
    assert running.process.returncode == 3


def test_a_report_on_standard_output_is_whole_while_the_terminal_is_told(tmp_path):
    """As with `kvfence probe URL --format json > report.json`."""
    with (
        endpoint() as server,
        on_terminal("probe", server.url, *SWEEP, "--format", "json", stdout=tmp_path / "r") as ran,
    ):
        ran.shows("requests done")
    assert json.loads((tmp_path / "r").read_text("utf-8"))["verdict"] == "clean"


def test_quiet_draws_nothing_but_the_table():
    """Not even the first line."""
    with endpoint() as server, on_terminal("probe", server.url, *SWEEP, "--quiet") as running:
        pass
    assert "gone" not in running.text
    assert "asking" not in running.text
    assert "every marker came back" in running.text


def test_without_a_terminal_a_short_run_says_nothing_of_it():
    """A line is due after ten seconds."""
    with endpoint() as server:
        ran = run_kvfence("probe", server.url, *SWEEP)
    assert (ran.code, ran.err) == (0, "")


def test_plain_lines_come_while_one_request_is_out_and_none_after_the_end():
    """So that whoever reads a log sees that it is alive, and what it waits for."""
    with endpoint() as server:
        server.held_from = 1

        class Log(io.StringIO):
            def write(self, text):
                if "1 of about" in text:
                    server.released.set()
                return super().write(text)

        log = Log()
        with PlainLines(Console(file=log, width=120), every_s=0.02) as progress:
            run(server.url, progress.watch)
        lines = log.getvalue().splitlines()
    assert "probe: sweep: 768 tokens (plants the other tenant's markers); 1 of about" in log.getvalue()
    assert all(line.startswith("probe: ") for line in lines)
    assert not [thread for thread in threading.enumerate() if thread.name == "kvfence-progress"]


def test_a_report_on_standard_output_without_a_terminal_is_told_to_nobody():
    """Both streams may end in one file."""
    with progress_of(quiet=False, report_on_stdout=True) as progress:
        assert progress.watch is None


def test_against_an_honest_endpoint_the_first_forecast_is_what_is_asked():
    """Requests, tokens and money; the last word is that all of it has ended."""
    seen = []
    with endpoint(Behaviour(declared=8192)) as server:
        result = run(server.url, seen.append)
    assert seen[0].foreseen == result.requests == seen[-1].asked
    assert seen[0].is_all
    assert seen[-1].under_way == 0
    assert seen[-1].spent == result.spent
    assert seen[0].foreseen_tokens >= result.spent.prompt_tokens + result.spent.answer_tokens


def test_what_is_foreseen_follows_a_campaign_that_turns():
    """A limit within what is declared adds a bisection; in the end nothing is left. No time passes by this clock."""
    seen = []
    with endpoint(Behaviour(limit=5000, beyond="refuse")) as server:
        result = asyncio.run(probe(replace(options_for(server.url, 7, {}), clock=lambda: 0.0), seen.append))
    assert seen[0].foreseen < result.requests
    assert seen[-1].foreseen == seen[-1].asked == result.requests
    assert dict(seen[-1].answers)["refused"] > 0
