"""Writes what is generated in docs/ and the example of the README: `make docs`.

With --check it writes nothing and exits 1 on a difference.

docs/cli.md is made of what the commands declare, not of how a release of the command-line library draws it: else a
fresh install with another release would differ.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path

from typer.models import ArgumentInfo, OptionInfo

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MINUTE = "## An on-call engineer's minute\n"
SAMPLE = "it says, with 9 markers a prompt (a test holds that it does):\n\n```\n"
sys.path.insert(0, str(ROOT / "tests"))

from kvfence.audit.catalogue import cards  # noqa: E402 — the path is set above
from kvfence.audit.pages import index, page  # noqa: E402 — the same
from kvfence.cli.exits import ExitCode  # noqa: E402 — the same
from kvfence.cli.main import options, program  # noqa: E402 — the same
from support.floors import picture  # noqa: E402 — the tests' table of floors is the only one
from support.matrix_page import page as matrix_page  # noqa: E402 — the same
from support.matrix_page import picture as matrix_picture  # noqa: E402 — the same
from support.plan_cases import page as plans_against_logs  # noqa: E402 — the same
from support.probe_servers import Behaviour, endpoint  # noqa: E402 — the same
from support.signs_page import page as signs_page  # noqa: E402 — the same

HEAD = """# Command line

Written from the program by `make docs`. `kvfence COMMAND --help` tells the same.
"""


def commands() -> dict[str, Callable[..., None]]:
    """Every command by its name, in the order of the program."""
    found = [command.callback for command in program().registered_commands if command.callback]
    return {callback.__name__: callback for callback in found}


def command_line() -> str:
    """docs/cli.md."""
    parts = [HEAD, section("kvfence COMMAND", options), exit_codes()]
    for name, callback in commands().items():
        arguments = [_metavar(name, declared) for name, declared, _, _ in _parameters(callback, ArgumentInfo)]
        parts.append(section(" ".join(["kvfence", name, "[OPTIONS]", *arguments]), callback))
    return "\n".join(parts)


def section(usage: str, callback: Callable[..., None]) -> str:
    """One command: what it does, its example, its arguments and options."""
    text, _, example = inspect.getdoc(callback).partition("Example: ")
    shown = f"```\n{example.strip()}\n```\n\n" if example else ""
    rows = [
        *(f"| `{_metavar(name, to)}` | {to.help} | |" for name, to, _, _ in _parameters(callback, ArgumentInfo)),
        *(_option_row(*found) for found in _parameters(callback, OptionInfo)),
    ]
    table = "\n".join(["| | | default |", "| --- | --- | --- |", *rows, ""])
    return f"## `{usage}`\n\n{text.strip()}\n\n{shown}{table}"


_MEANS = {
    ExitCode.CLEAN: "clean: all that was asked was looked at, and nothing was found",
    ExitCode.FOUND: "something was found (0 with `--exit-zero`, which leaves 2 and 3 as they are)",
    ExitCode.USAGE: "wrong use, or it could not start: one line says why and what to do",
    ExitCode.INCONCLUSIVE: "inconclusive: a control failed, or the evidence does not reach",
}


def exit_codes() -> str:
    """The table of exit codes, the same for every command."""
    rows = "".join(f"| {code.value} | {_MEANS[code]} |\n" for code in ExitCode)
    rows += "| 130 | stopped by Ctrl-C; `probe` gives what it has by then, with 1 if something was found, else 3 |\n"
    return f"## Exit codes\n\n| code | means |\n| --- | --- |\n{rows}"


def _parameters(callback: Callable[..., None], kind: type) -> Iterator[tuple[str, typing.Any, typing.Any, object]]:
    hints = typing.get_type_hints(callback, include_extras=True)
    for name, parameter in inspect.signature(callback).parameters.items():
        if not typing.get_args(hints[name]):
            continue  # the context, which nobody gives
        of, declared = typing.get_args(hints[name])
        if isinstance(declared, kind):
            yield name, declared, of, parameter.default


def _metavar(name: str, declared: ArgumentInfo) -> str:
    return str(declared.metavar or name.upper())


def _option_row(name: str, declared: OptionInfo, of: object, default: object) -> str:
    spelled = _spellings(name, declared)
    accepted = [_accepted(of), *([f"{declared.min} or more"] if declared.min is not None else [])]
    tail = ", ".join(word for word in accepted if word)
    shown = default.value if isinstance(default, Enum) else default
    value = "" if shown in (None, False, inspect.Parameter.empty) else f"`{shown}`"
    help_text = f"{declared.help} ({tail})" if tail else declared.help
    return f"| {', '.join(f'`{spelling}`' for spelling in spelled)} | {help_text} | {value} |"


def _spellings(name: str, declared: OptionInfo) -> list[str]:
    """The option's names, the long one first, each way of a switch. Inside Annotated the first is the default."""
    first = [declared.default] if isinstance(declared.default, str) else []
    given = [*first, *(declared.param_decls or [])]
    ordered = sorted(given or [f"--{name.replace('_', '-')}"], key=len, reverse=True)
    return [one for both in ordered for one in both.split("/")]


def _accepted(of: object) -> str:
    """What kind of value an option takes, in a word; nothing for a flag."""
    kinds = [kind for kind in typing.get_args(of) if kind is not types.NoneType] or [of]
    if typing.get_origin(kinds[0]) is list:
        kinds = list(typing.get_args(kinds[0]))
    kind = kinds[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " or ".join(f"`{member.value}`" for member in kind)
    return {int: "a whole number", float: "a number", Path: "a file"}.get(typing.cast("type", kind), "")


def readme(text: str) -> str:
    """README.md with the output under its minute as the program prints it now."""
    before, heading, after = text.partition(MINUTE)
    asked, _, rest = after.partition("\n```\n\nWith")
    said, fence, _ = rest.partition("\n```\n")
    _, end, below = rest.removeprefix(said + fence).partition("\n```\n")
    log = (ROOT / "tests" / "corpus" / "minute" / "kubectl.log").read_bytes()
    done = subprocess.run([sys.executable, "-m", "kvfence", "audit", "-"], input=log, capture_output=True, check=False)
    printed = "\n".join(line.rstrip() for line in done.stdout.decode().splitlines()).strip("\n")
    return f"{before}{heading}{asked}\n```\n\nWith{said}{fence}{printed}{end}{below}"


ASKS = ("5312", "5313")
HELD_AT = 5312
"""Tokens of the last right answer in the README's sample of a probe."""


def sample() -> str:
    """What a probe prints of an endpoint that gives long prompts another tenant's text: its map, and its verdict."""
    lengths = [word for tokens in ASKS for word in ("--lengths", tokens)]
    with endpoint(Behaviour(limit=HELD_AT, beyond="leak")) as server:
        words = ["probe", server.url, *lengths, "--scenario", "sweep", "--seed", "7", "--depths", "9"]
        done = subprocess.run([sys.executable, "-m", "kvfence", *words], capture_output=True, text=True, check=False)
    lines = [line.rstrip() for line in done.stdout.strip().splitlines()]
    heat = next(number for number, line in enumerate(lines) if line.startswith("recall by length"))
    rest = next(number for number, line in enumerate(lines) if line.startswith("declared context"))
    return "\n".join((*lines[heat:rest], *lines[-3:]))


def with_sample(text: str) -> str:
    """README.md with what the probe prints now."""
    before, heading, after = text.partition(SAMPLE)
    _, fence, below = after.partition("```\n\n")
    return f"{before}{heading}{sample()}\n{fence}{below}"


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file and its text."""
    yield DOCS / "cli.md", command_line()
    yield ROOT / "README.md", with_sample(readme((ROOT / "README.md").read_text(encoding="utf-8")))
    yield DOCS / "diagrams" / "floors.svg", picture()
    yield DOCS / "diagrams" / "fault-matrix.svg", matrix_picture()
    yield DOCS / "fault-matrix.md", matrix_page()
    yield DOCS / "scan-signs.md", signs_page()
    yield DOCS / "plan-against-logs.md", plans_against_logs()
    yield DOCS / "rules" / "README.md", index()
    for rule in cards():
        yield DOCS / "rules" / f"{rule.id}.md", page(rule)


def main() -> int:
    """Write, or check; a page of a rule that is no more is removed."""
    wanted = dict(generated())
    stale = [file for file, text in wanted.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    orphans = sorted(set((DOCS / "rules").glob("*.md")) - wanted.keys())
    told = [str(file.relative_to(ROOT)) for file in (*stale, *orphans)]
    if "--check" in sys.argv:
        sys.stdout.write(f"differ: {', '.join(told)}; run make docs\n" if told else "")
        return 1 if told else 0
    for file in stale:
        file.write_text(wanted[file], encoding="utf-8")
    for file in orphans:
        file.unlink()
    sys.stdout.write(f"written: {', '.join(told)}\n" if told else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
