"""`kvfence probe`: options in, one plan down, a report out."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kvfence.cli.output import Format, check_writable, exit_code, people_console, report_to, write_json
from kvfence.errors import UsageError
from kvfence.findings.recall import ProbeResult
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.drive import NO_JOURNAL
from kvfence.probe.journal import Journal, Recorder
from kvfence.probe.prompts import DEPTHS, DEPTHS_MAX
from kvfence.probe.record import Step
from kvfence.probe.target import parse_url
from kvfence.probe.tokenizer_file import tokenizer_of
from kvfence.report.probe_json import document
from kvfence.report.probe_terminal import show_probe

LONGEST = 2**25
"""Tokens: many times what any model takes; a prompt of it is still built in memory."""


def probe(
    url: Annotated[str, typer.Argument(help="Base of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1.")],
    *,
    model: Annotated[str | None, typer.Option(help="Model to probe; default: the first one listed.")] = None,
    context: Annotated[
        int | None, typer.Option(help="Declared context in tokens, if not listed.", min=1, max=LONGEST)
    ] = None,
    limit: Annotated[
        list[int] | None, typer.Option(help="A length where something may change, such as a pool's size; repeatable.")
    ] = None,
    lengths: Annotated[list[int] | None, typer.Option(help="Ask only these prompt lengths; repeatable.")] = None,
    api_key_env: Annotated[
        list[str] | None,
        typer.Option(help="Variable with an API key; give it twice for two tenants (seeding, then harvesting)."),
    ] = None,
    depths: Annotated[
        int,
        typer.Option(help="How many markers each prompt carries, from its start to its end.", min=1, max=DEPTHS_MAX),
    ] = DEPTHS,
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="A tokenizer.json to count prompts with, where the endpoint does not (extra `tokenizer`)."),
    ] = None,
    completions: Annotated[bool, typer.Option("--completions", help="Use /completions, not chat.")] = False,
    max_requests: Annotated[int, typer.Option(help="Never send more requests than this.", min=2)] = 64,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for one answer.", min=0.1, max=86_400)] = 600.0,
    seed: Annotated[int | None, typer.Option(help="Repeat the prompts of an earlier run.")] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            help="Record the campaign in this file; one that was cut off goes on from it, asking nothing twice."
        ),
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="table or json.")] = Format.TABLE,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the report to this file.")] = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 whatever is found.")] = False,
) -> None:
    """Does this endpoint answer with my text, and only mine, at every length that it claims?

    Example: kvfence probe http://127.0.0.1:8000/v1 --limit 681280
    """
    check_writable(output)
    keys = _keys(api_key_env or [])
    book = Journal(journal) if journal else NO_JOURNAL
    chosen_seed = _seed(seed, book)
    options = Options(
        target=Target(
            base_url=parse_url(url),
            model=model,
            declared_context=context,
            completions=completions,
            timeout_s=timeout,
        ),
        seeders=(Tenant(name="tenant-a", api_key=keys[0], salt=f"kvfence-a-{chosen_seed:x}"),),
        harvester=Tenant(name="tenant-b", api_key=keys[1], salt=f"kvfence-b-{chosen_seed:x}"),
        bounds=Bounds(
            limits=_positive("--limit", limit or []),
            lengths=_positive("--lengths", lengths or []),
            requests_max=max_requests,
        ),
        seed=chosen_seed,
        depths=depths,
        counter=tokenizer_of(tokenizer) if tokenizer else None,
        key=f"kvfence campaign {chosen_seed}".encode(),
    )
    result = _with_progress(options, book)
    machine = output_format is Format.JSON
    show_probe(result, people_console(machine_on_stdout=machine and output is None))
    if machine:
        write_json(document(result), output)
    else:
        report_to(lambda console: show_probe(result, console), output)
    raise typer.Exit(exit_code(result.outcome, exit_zero=exit_zero))


def _with_progress(options: Options, recorder: Recorder) -> ProbeResult:
    console = people_console(machine_on_stdout=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("asking the endpoint", total=None)

        def watch(step: Step, made: int) -> None:
            progress.update(task, description=f"request {made + 1}: {step.part} of {step.tokens:,} tokens ({step.why})")

        return run(options, watch, recorder)


def _seed(given: int | None, recorder: Recorder) -> int:
    """The one that is asked for, else the one of the campaign that goes on, else a new one."""
    if given is not None:
        return given
    before = recorder.about if isinstance(recorder, Journal) else None
    return before.campaign.seed if before else secrets.randbits(48)


def _positive(option: str, lengths: list[int]) -> tuple[int, ...]:
    for tokens in lengths:
        if not 1 <= tokens <= LONGEST:
            raise UsageError(f"{option} {tokens}: a length in tokens is 1 or more, and at most {LONGEST:,}")
    return tuple(lengths)


def _keys(names: list[str]) -> tuple[str | None, str | None]:
    keys: list[str] = []
    for name in names:
        value = os.environ.get(name)
        if not value:
            raise UsageError(f"--api-key-env {name}: that variable is not set or empty")
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"--api-key-env {name}: that variable's value has characters that no API key can have")
        keys.append(value)
    match keys:
        case []:
            return None, None
        case [one]:
            return one, one
        case [first, second]:
            return first, second
        case _:
            raise UsageError("--api-key-env can be given once or twice: there are two tenants")
