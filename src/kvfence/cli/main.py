"""The program: one command a module, errors turned into one line and an exit code. No decision lives here."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import kvfence
from kvfence.cli.audit import audit
from kvfence.cli.demo import demo
from kvfence.cli.exits import ExitCode
from kvfence.cli.explain import explain
from kvfence.cli.gate import gate
from kvfence.cli.probe import probe
from kvfence.cli.serve import serve
from kvfence.errors import KvfenceError

app = typer.Typer(
    name="kvfence",
    help=kvfence.__doc__,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kvfence {kvfence.__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Find, prove and prevent KV-cache leaks between tenants."""
    del version  # its callback has dealt with it


app.command()(demo)
app.command()(probe)
app.command()(audit)
app.command()(gate)
app.command()(explain)
app.command()(serve)


def run() -> None:
    """Run the program; the only place where an exception becomes an exit code."""
    try:
        app()
    except KvfenceError as error:
        _stop(str(error), ExitCode.USAGE)
    except BrokenPipeError:
        # The reader of our output went away (`kvfence audit … | head`); that is not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.CLEAN)
    except Exception as error:  # the last door: no traceback reaches a user
        if "KVFENCE_TRACEBACK" in os.environ:
            raise
        _stop(
            f"internal error, {type(error).__name__}: {error}; nothing is concluded. "
            "Run again with KVFENCE_TRACEBACK=1 and report what it prints.",
            ExitCode.INCONCLUSIVE,
        )


def _stop(line: str, code: ExitCode) -> None:
    sys.stderr.write(f"kvfence: {' '.join(line.split())}\n")
    sys.exit(code)
