"""`kvfence probe --providers` and `--tenants`: files of vendors and tenants in, a comparison out. Options only."""

from __future__ import annotations

import asyncio
import os
import sys
import tomllib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.exits import ExitCode
from kvfence.cli.output import exit_code, hand_back, people_console, run_of
from kvfence.cli.probe_output import again, go_on, write_plans
from kvfence.cli.probe_progress import progress_of
from kvfence.cli.stopping import stopping
from kvfence.errors import UsageError
from kvfence.findings.comparison import Comparison
from kvfence.findings.foreseen import Foreseen
from kvfence.probe.course import Watcher
from kvfence.probe.dialects.dialect import Dialect
from kvfence.probe.foresight import foresee
from kvfence.probe.limits import Limits, Till
from kvfence.probe.providers.comparing import ForEach, WatcherOf, compare, options_of
from kvfence.probe.providers.provider import Provider, providers_in
from kvfence.probe.providers.table import Table
from kvfence.probe.providers.tenants import Party, tenants_in
from kvfence.probe.stop import Stop
from kvfence.report.comparison_formats import FORMATS, rendered_comparison
from kvfence.report.comparison_rows import plain_comparison
from kvfence.report.probe_formats import ProbeFormat

ProvidersFile = Annotated[
    Path | None,
    typer.Option("--providers", help="TOML with several vendors of one model: the same campaign over each, one table."),
]
TenantsFile = Annotated[
    Path | None,
    typer.Option(
        "--tenants", help="TOML with two or more tables `tenants`: their keys' variables, headers and fields."
    ),
]


_OF_ONE_ENDPOINT = {
    "url": "a URL",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("model", "context", "tenants", "facts", "api_key_env", "completions"),
            *("price_in", "price_out", "prices"),
        )
    },
}
"""Options that each vendor's table has instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What becomes of what is found."""

    form: ProbeFormat
    output: Path | None
    began: float
    exit_zero: bool
    only_plan: bool
    """Nothing is sent."""
    quiet: bool

    @property
    def is_report_on_stdout(self) -> bool:
        """Whether standard output belongs to a report for a machine."""
        return self.output is None and self.form is not ProbeFormat.TABLE


def check_alone(given: typer.Context) -> None:
    """Raise `UsageError` for options that are about one endpoint; each vendor's table has its own."""
    sources = {name: given.get_parameter_source(name) for name in _OF_ONE_ENDPOINT}
    found = [_OF_ONE_ENDPOINT[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if found:
        raise UsageError(f"{', '.join(found)} beside --providers: that is about one endpoint; leave it out")


def compare_providers(
    file: Path, each: ForEach, wanted: Wanted, *, limits: Limits, seed: int | None, folder: Path | None
) -> ExitCode:
    """Compare the vendors in a file, and write what was found. Raises `UsageError` before anything is sent.

    `limits`: of all vendors together; `folder`: of journals.
    """
    if not wanted.only_plan and wanted.form not in FORMATS:
        raise UsageError(f"--format {wanted.form} is a report of one endpoint; use {', '.join(FORMATS)}")
    providers = providers_in(_read(file), os.environ)
    unpriced = [one.name for one in providers if one.limits.prices is None]
    if limits.usd is not None and unpriced:
        raise UsageError(f"--budget-usd needs prices of every provider; {', '.join(unpriced)} has none in {file}")
    if wanted.only_plan:
        write_plans(_plans(file, providers, each, seed or 0), wanted.form, wanted.output)
        return ExitCode.CLEAN
    stop = Stop()
    till = Till(tokens_max=limits.tokens, usd_max=limits.usd)
    with progress_of(quiet=wanted.quiet, report_on_stdout=wanted.is_report_on_stdout) as progress:

        async def until_stopped() -> Comparison:
            watch = _watch_of(progress.watch)
            with stopping(stop, progress.say):
                return await compare(providers, each, seed=seed, folder=folder, till=till, watch=watch, stop=stop)

        comparison = asyncio.run(until_stopped())
    repeated = again(sys.argv[1:], url="", shown="", seed=comparison.seed)
    run = replace(run_of("probe", began=wanted.began), again=repeated)
    from kvfence.report.comparison_terminal import show_comparison  # noqa: PLC0415 — once there is something to print

    show = partial(show_comparison, plain_comparison(comparison))
    report = partial(rendered_comparison, comparison, wanted.form, run)
    hand_back(show, report, wanted.output, machine=wanted.form is not ProbeFormat.TABLE)
    if stop.by:
        kept = f"; to go on without asking anything twice: {go_on(sys.argv[1:], url='', shown='')}" if folder else ""
        people_console(machine_on_stdout=True).print(f"stopped by {stop.by}{kept}", soft_wrap=True, markup=False)
    return exit_code(comparison.outcome, exit_zero=wanted.exit_zero)


def tenants_from(file: Path, dialect: Dialect, api_key: str | None) -> tuple[Party, ...]:
    """The tenants in a file; `api_key` is theirs who name none. Raises `UsageError`."""
    table = _read(file)
    if not table.rows.get("tenants"):
        raise table.wrong("tenants", "there is none; begin each with [[tenants]]")
    parties = tenants_in(table, dialect, os.environ, Party(api_key=api_key))
    table.end()
    return parties


def _plans(file: Path, providers: tuple[Provider, ...], each: ForEach, seed: int) -> dict[str, Foreseen]:
    """What would be asked of each, by its name. Raises `UsageError` where a context is not said."""
    for one in providers:
        if one.target.declared_context is None:
            raise UsageError(f"--dry-run looks nothing up: {file}: '{one.name}' needs its context, in tokens")
    return {one.name: foresee(options_of(one, each, seed, Till())) for one in providers}


def _watch_of(told: Watcher | None) -> WatcherOf:
    """Who is told of each vendor's campaign, with its name."""

    def of(provider: Provider) -> Watcher | None:
        return told and (lambda progress: told(replace(progress, of=provider.name)))

    return of


def _read(file: Path) -> Table:
    try:
        return Table(str(file), tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as TOML: {error}") from error
