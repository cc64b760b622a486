"""Writes what is generated in docs/: `make docs`. With --check it writes nothing and exits 1 on a difference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from kvfence.audit.pages import index, page  # noqa: E402 — the path is set above
from kvfence.audit.registry import RULES  # noqa: E402 — the same
from kvfence.cli.main import app  # noqa: E402 — the same
from support.floors import picture  # noqa: E402 — the tests' table of floors is the only one


def command_names() -> list[str]:
    """Every command, in the order of the program."""
    return [command.callback.__name__ for command in app.registered_commands if command.callback]


def help_of(*command: str) -> str:
    """What the program prints for --help, at a fixed width and without colours."""
    plain = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "TERMINAL_WIDTH": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "kvfence", *command, "--help"], capture_output=True, text=True, check=True, env=plain
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def command_line() -> str:
    """docs/cli.md."""
    parts = ["# Command line\n\nWritten from the program by `make docs`.\n"]
    parts += [f"## kvfence {name}\n\n```\n{help_of(name)}\n```\n" for name in command_names()]
    return "\n".join(parts)


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file and its text."""
    yield DOCS / "cli.md", command_line()
    yield DOCS / "diagrams" / "floors.svg", picture()
    yield DOCS / "rules" / "README.md", index()
    for rule in RULES:
        yield DOCS / "rules" / f"{rule.id}.md", page(rule)


def main() -> int:
    """Write, or check."""
    stale = []
    for file, text in generated():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(str(file.relative_to(DOCS)))
            if "--check" not in sys.argv:
                file.write_text(text, encoding="utf-8")
    if stale:
        sys.stdout.write(f"{'differ' if '--check' in sys.argv else 'written'}: {', '.join(stale)}\n")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
