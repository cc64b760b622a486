"""One campaign over one endpoint, from its options to its report and its exit code."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from kvfence.cli.exits import ExitCode
from kvfence.cli.output import exit_code, people_console, run_of
from kvfence.cli.probe_output import again, go_on, stopped_line, write_probe
from kvfence.cli.probe_progress import Progressing, progress_of
from kvfence.cli.probe_providers import Wanted
from kvfence.cli.stopping import stopping
from kvfence.findings.recall import ProbeResult
from kvfence.probe import Options
from kvfence.probe.drive import probe
from kvfence.probe.journal import Journal, Recorder
from kvfence.probe.stop import Stop


def carry_out(options: Options, book: Recorder, wanted: Wanted, *, url: str) -> ExitCode:
    """Run it, telling how far it is, and write what was found. `url`: as it stands on the command line."""
    stop, words, shown = Stop(), sys.argv[1:], options.target.shown
    with progress_of(quiet=wanted.quiet, report_on_stdout=wanted.is_report_on_stdout) as progress:
        result = asyncio.run(_until_stopped(options, book, progress, stop))
    if result is not None:
        repeated = again(words, url=url, shown=shown, seed=options.seed)
        write_probe(result, wanted.form, wanted.output, replace(run_of("probe", began=wanted.began), again=repeated))
    if stop.by and (result is None or result.ended_by):
        resumed = go_on(words, url=url, shown=shown) if isinstance(book, Journal) else ""
        console = people_console(machine_on_stdout=True)
        console.print(stopped_line(stop, result, resumed), soft_wrap=True, markup=False)
    return ExitCode.INCONCLUSIVE if result is None else exit_code(result.outcome, exit_zero=wanted.exit_zero)


async def _until_stopped(options: Options, book: Recorder, progress: Progressing, stop: Stop) -> ProbeResult | None:
    """What was found until then; None where nothing had been asked."""
    with stopping(stop, progress.say):
        try:
            return await probe(options, progress.watch, book, stop)
        except asyncio.CancelledError:
            if not stop.by:
                raise
            return None
