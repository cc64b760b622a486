"""What most kinds of lines say, made from their pattern's groups. The tables of lines are made of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kvfence.facts.fact import Kind
from kvfence.facts.logs.statement import Happened, Message, Said, number

SayFrom = Callable[[re.Match[str]], Iterator[Said | Happened]]
"""What a line says, from the match of its pattern. A group named `request` is the request that it is about."""


def numbers(*names: str) -> SayFrom:
    """The first groups are numbers of these names; a group that may be missing and is missing says nothing."""

    def say(match: re.Match[str]) -> Iterator[Said]:
        for group, name in enumerate(names, 1):
            if match[group]:
                yield Said(name, number(match[group]))

    return say


def text(name: str) -> SayFrom:
    """The first group is a text of that name."""
    return lambda match: iter((Said(name, match[1]),))


def that(name: str, value: str | bool = True) -> SayFrom:  # noqa: FBT001, FBT002 — a value of any kind, not a switch
    """The line being there says it."""
    return lambda _match: iter((Said(name, value),))


def happens(kind: Kind) -> SayFrom:
    """The line being there says that it happened, and to which request where it names one."""
    return lambda match: iter((Happened(kind, request=request_of(match)),))


def request_of(match: re.Match[str]) -> str | None:
    """The request that a line is about, where its pattern looks for one."""
    return match.groupdict().get("request")


def messages(*lines: tuple[str, str, SayFrom]) -> tuple[Message, ...]:
    """A table of lines: what each holds in any case, how it is recognised, and what it says."""
    return tuple(Message(stem, re.compile(pattern), say) for stem, pattern, say in lines)
