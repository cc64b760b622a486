"""How far a scan is: drawn on a terminal and then gone, a line now and then elsewhere, never in a report."""

from __future__ import annotations

import io
import json

from rich.console import Console

from kvfence.cli.scan_progress import _Lines, scan_progress
from support.programs import run_kvfence
from support.scan_passes import lines_of_log
from support.terminals import on_terminal


def test_a_terminal_shows_both_readings_and_the_report_below(tmp_path):
    """The bar is wiped away before the answers are printed."""
    log = tmp_path / "a.jsonl"
    log.write_text(lines_of_log(500))
    with on_terminal("scan", str(log)) as running:
        running.shows("Were we exposed?")
    assert "\x1b[2K" in running.drawn.decode()
    for words in ("looking at the inputs", "comparing with what was read"):
        assert running.text.index(words) < running.text.index("Were we exposed?")


def test_a_report_in_a_pipe_is_whole_and_nothing_is_told_beside_it(tmp_path):
    """Where both streams end in one file, the report must stay whole."""
    log = tmp_path / "a.jsonl"
    log.write_text(lines_of_log(5))
    ran = run_kvfence("scan", str(log), "--format", "json")
    assert json.loads(ran.out)["requests"] == 5
    assert "GB" not in ran.err
    with scan_progress(report_on_stdout=True) as told:
        assert not isinstance(told, _Lines)


def test_without_a_terminal_a_line_comes_now_and_then(monkeypatch):
    """Not for each piece: once in thirty seconds."""
    clock = iter([0.0, 10.0, 31.0, 31.0, 40.0])
    monkeypatch.setattr("kvfence.cli.scan_progress.monotonic", lambda: next(clock))
    said = io.StringIO()
    told = _Lines(Console(file=said))
    for done in (1, 2, 3):
        told("reading", done * 1_000_000_000, 10_000_000_000)
    assert said.getvalue() == "reading: 20%\n"
