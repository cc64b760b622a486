"""`kvfence demo`: the incident from start to end on this machine."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.exits import ExitCode
from kvfence.cli.output import Format, check_writable, people_console, report_to, write_json, write_text

REPORT = Path("kvfence-demo.html")


def demo(
    *,
    size: Annotated[str, typer.Option(help="default, or full: 1,048,576 tokens against 681,280.")] = "default",
    seed: Annotated[int | None, typer.Option(help="Repeat the secrets and documents of an earlier run.")] = None,
    html_file: Annotated[Path, typer.Option("--html", help="Where the HTML report goes.")] = REPORT,
    output_format: Annotated[Format, typer.Option("--format", help="table or json.")] = Format.TABLE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the summary, or the JSON, to this file.")
    ] = None,
) -> None:
    """The incident from start to end: leak under the old rules, found twice, refused under the fence.

    Example: kvfence demo --size full --html incident.html
    """
    from kvfence.demo import reporting  # noqa: PLC0415 — the server and NumPy load only for the demo
    from kvfence.demo.story import checked_size, tell  # noqa: PLC0415 — the same

    machine = output_format is Format.JSON
    console = people_console(machine_on_stdout=machine and output is None)
    check_writable(html_file, output)
    chosen = secrets.randbits(48) if seed is None else seed
    story = tell(checked_size(size), chosen, lambda line: console.print(f"· {line}", style="dim"))
    reporting.show(story, console)
    write_text(reporting.html(story), html_file)
    console.print(f"report: {html_file}  (seed {chosen}, {story.seconds:.0f} s)")
    if machine:
        write_json(reporting.document(story), output)
    else:
        report_to(lambda page: reporting.show(story, page), output)
    if not story.as_promised:
        console.print("this run did not show what it promises; please report it with the seed", style="bold red")
        raise typer.Exit(ExitCode.INCONCLUSIVE)
