"""`kvfence registry`: what registries of markers hold, whose a marker is, and several into one. Options only."""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvfence.cli.exits import ExitCode
from kvfence.cli.output import Format, check_not_read, check_writable, people_console, report_to, write_json
from kvfence.errors import TargetError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kvfence.findings.origin import MarkerSight
    from kvfence.probe.registry.planted import Remembered
    from kvfence.probe.registry.registry_file import RegistryFile

Files = Annotated[list[Path], typer.Argument(help="Registries that campaigns wrote.")]
Find = Annotated[
    list[str] | None,
    typer.Option(help="A file, - for standard input, or a text: whose the markers in it are; repeatable."),
]
MergeInto = Annotated[
    Path | None, typer.Option("--merge", help="Put all that they hold into this registry; it is made if need be.")
]
Written = Annotated[Format, typer.Option("--format", help="A table for people, or JSON.")]
ReportFile = Annotated[Path | None, typer.Option("-o", "--output", help="Write the report here.")]


def registry(
    files: Files,
    *,
    find: Find = None,
    merge: MergeInto = None,
    output_format: Written = Format.TABLE,
    output: ReportFile = None,
) -> None:
    """What was planted when and where, and whose is a marker that stands in some text?

    Without options it lists the campaigns. Exit codes: 0 nothing was searched for, or nothing found; 1 a marker was
    found; 2 a file is no registry, or cannot be read or written.

    Example: kvfence registry office.sqlite lab.sqlite --find complaint.txt
    """
    from kvfence.probe.registry import merging  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.probe.registry.registry_file import RegistryFile  # noqa: PLC0415 — the same
    from kvfence.report.registry_report import document, show_kept, show_sights  # noqa: PLC0415 — the same

    check_not_read(output, [*files, *(find or []), *([merge] if merge else [])])
    check_writable(output)
    if merge is not None:
        merging.merge(files, merge)
    with ExitStack() as stack:
        read = [merge] if merge else list(dict.fromkeys(files))
        opened = [stack.enter_context(RegistryFile(file, read_only=True)) for file in read]
        found = tuple(sight for place in find or [] for sight in _found(place, opened))
        kept = () if find else tuple(one for registry_ in opened for one in registry_.kept())
    show = partial(show_sights, found) if find else partial(show_kept, kept)
    machine = output_format is Format.JSON
    show(people_console(machine_on_stdout=machine and output is None))
    if machine:
        write_json(document(kept, found), output)
    else:
        report_to(show, output)
    raise typer.Exit(ExitCode.FOUND if found else ExitCode.CLEAN)


def _found(place: str, opened: list[RegistryFile]) -> Iterator[MarkerSight]:
    from kvfence.probe.markers import pieces_in  # noqa: PLC0415 — as above
    from kvfence.probe.registry.by_seed import of_one_of  # noqa: PLC0415 — as above
    from kvfence.probe.registry.searching import sights_in  # noqa: PLC0415 — as above

    def whose(pieces: frozenset[str]) -> Iterator[Remembered]:
        for registry_ in opened:
            yield from registry_.whose(pieces)

    def by_seed(marker: str) -> Remembered | None:
        return of_one_of(marker, (campaign for registry_ in opened for campaign in registry_.campaigns()))

    try:
        if place == "-":
            yield from sights_in(io.TextIOWrapper(sys.stdin.buffer, errors="replace"), "standard input", whose, by_seed)
        elif os.path.exists(place):  # noqa: PTH110 — it may be any text, too long for a path
            with Path(place).open(encoding="utf-8", errors="replace") as text:
                yield from sights_in(text, place, whose, by_seed)
        elif pieces_in(place):
            yield from sights_in(io.StringIO(place), "the text", whose, by_seed)
        else:
            raise UsageError("--find: there is no such file, and as a text it has no marker; name a file")
    except (OSError, ValueError) as error:
        raise TargetError(f"--find {place}: cannot be read: {error}") from error
