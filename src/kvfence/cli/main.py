"""The program: one command a module, errors turned into one line and an exit code. No decision lives here."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated, NoReturn

import typer

import kvfence
from kvfence.cli.commands import COMMANDS, load
from kvfence.cli.exits import ExitCode
from kvfence.cli.streams import mend_streams, print_to_nobody
from kvfence.errors import KvfenceError


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kvfence {kvfence.__version__}")
        raise typer.Exit


def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Find, prove and prevent KV-cache leaks between tenants."""
    del version  # its callback has dealt with it


def program(asked: str = "") -> typer.Typer:
    """The program with the command that is asked for; with all of them where none is, or none that there is."""
    app = typer.Typer(
        name="kvfence",
        help=kvfence.__doc__,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for name in (asked,) if asked in COMMANDS else COMMANDS:
        command = load(name)
        app.command(help=_flowing(command.__doc__ or ""))(command)
    return app


def _flowing(page: str) -> str:
    """A docstring whose paragraphs are one line each: the help would keep its line breaks, and break again between."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in page.split("\n\n"))


def run() -> None:
    """Run the program; the only place where an exception becomes an exit code."""
    mend_streams()
    words = sys.argv[1:]
    try:
        code = program(*words[:1])(words or ["--help"], prog_name="kvfence", standalone_mode=False)
        sys.exit(code if words else ExitCode.USAGE)
    except typer.Abort:
        raise KeyboardInterrupt from None  # typer names it so
    except KvfenceError as error:
        _stop(str(error), ExitCode.USAGE)
    except MemoryError:
        _stop("not enough memory for what was asked; ask for less, such as smaller pools", ExitCode.USAGE)
    except Exception as error:  # the last door: no traceback reaches a user
        if wrong := _wrong_use(error):
            _stop(wrong, ExitCode.USAGE)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            print_to_nobody()  # what is left in the buffer would fail once more at the end
            _stop(f"the report could not be written: {error.strerror}; make room and run again", ExitCode.USAGE)
        if "KVFENCE_TRACEBACK" in os.environ:
            raise
        _stop(
            f"internal error, {type(error).__name__}: {error}; nothing is concluded. "
            "Run again with KVFENCE_TRACEBACK=1 and report what it prints.",
            ExitCode.INCONCLUSIVE,
        )


def _wrong_use(error: Exception) -> str | None:
    """What typer says of a wrong command line, or None. It exports no class of all such errors, so a method tells."""
    words = getattr(error, "format_message", None)
    if words is None:
        return None
    command = getattr(getattr(error, "ctx", None), "command_path", "kvfence")
    said = str(words()).replace("Value error, ", "").strip().rstrip(".")
    return f"{said}; see {command} --help"


def _stop(line: str, code: ExitCode) -> NoReturn:
    sys.stderr.write(f"kvfence: {' '.join(line.split())}\n")
    sys.exit(code)
