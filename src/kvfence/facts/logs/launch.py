"""A command that starts an engine, where a log holds it: its flags and their values. What they mean is the reader's."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

_SHELL = re.compile(r"^(?:[|&;<>]|\d?>)")
_CHARS_MAX = 16_384


@dataclass(frozen=True, slots=True)
class Launch:
    """Flags by name, without dashes and with underscores; a flag without a value has an empty one."""

    flags: Mapping[str, str]

    def text(self, name: str) -> str:
        """As it stands in the command."""
        value = self.flags[name]
        return f"--{name.replace('_', '-')}{' ' if value else ''}{value}"


def parse(text: str, at: int) -> Launch:
    """The flags of the command whose arguments begin at `at`."""
    flags: dict[str, str] = {}
    name: str | None = None
    for word in _words(text[at : at + _CHARS_MAX]):
        if _SHELL.match(word):
            break
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            name = name.replace("-", "_")
            flags[name] = value
            name = None if value else name
        elif word.startswith("-") and not word[1:2].isdigit():
            name = None
        elif name is not None:
            flags[name], name = word, None
    return Launch(flags)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        # An open quote: the command was cut, or the line holds more than a command.
        return command.split()
