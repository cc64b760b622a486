"""Which of an SGLang log's two places says a setting, and what a whole dump without it says."""

from __future__ import annotations

from kvfence.facts.fact import Fact
from kvfence.facts.logs.evidence import Heard, first_of


def setting(heard: Heard, name: str) -> Fact | None:
    """What the dump of settings says, which is resolved; else what the command asks for."""
    return first_of(heard.last(f"set.{name}"), heard.last(f"flag.{name}"))


def missing(heard: Heard, name: str, value: str | bool) -> Fact | None:  # noqa: FBT001 — a setting's value, not a switch
    """That value where the dump is whole and has no such setting: the version does not have it."""
    whole = heard.last("set.missing")
    return Fact(value, whole.seen) if whole and name in str(whole.value).split() else None
