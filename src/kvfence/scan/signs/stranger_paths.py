"""Paths, users and hosts of a machine that the prompt does not know.

Agents write where they stand: a home, a prompt of a shell, a mounted disk. An answer that continues another's session
has that other one's. It is right where the answer was made without its context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvfence.findings.redact import masked
from kvfence.scan.signs.stock import SECOND_LEVEL, is_stock_host, is_stock_user
from kvfence.scan.signs.told import Seen, Told

ANSWER_CHARS = 65_536
"""So much of an answer is looked at, from its start."""
SHOWN_MAX = 3
STRENGTH_MAX = 8.0
OF_A_USER = 2.0
OF_A_DISK = 0.5

_HOME = re.compile(r"(?<![\w./:~-])(/(?:home|Users|export/home|data/home)/)([\w.@+-]+)(?=/|\b)")
_WINDOWS = re.compile(r"\b([A-Za-z]:\\+Users\\+)([\w.@+-]+)(?=\\)", re.IGNORECASE)
_SHELL = re.compile(r"(?<![\w.@/-])([a-z_][\w-]{1,31})@([\w-]+(?:\.[\w-]+)*):(?=[~/])")
_DISK = re.compile(
    r"(?<![\w./:~-])(/(?:mnt|media|srv|data|workspaces?|projects?|opt|var|Volumes|scratch|nfs|lustre|gpfs|work)/)"
    r"([\w.@+-]+)/[\w.@+-]+/[\w.@+-]+"
)


def _is_stock_folder(name: str) -> bool:
    return name.lower() in SECOND_LEVEL or is_stock_user(name)


_OWNED = (
    ("/", _HOME, is_stock_user, OF_A_USER),
    ("/", _DISK, _is_stock_folder, OF_A_DISK),
    ("\\", _WINDOWS, is_stock_user, OF_A_USER),
)
"""What must stand in an answer to look for a pattern at all; the pattern; which names tell of nobody; a strength."""


def stranger_paths(told: Told) -> Seen | None:
    """Its strength is 2 for each user or host, and a half for each folder of a disk, 8 at most."""
    if not told.prompt_is_whole:
        return None
    strangers = dict(_strangers(told.answer[:ANSWER_CHARS], told.prompt))
    if not strangers:
        return None
    shown = ", ".join(list(strangers)[:SHOWN_MAX])
    more = f" and {len(strangers) - SHOWN_MAX} more" if len(strangers) > SHOWN_MAX else ""
    return Seen(min(sum(strangers.values()), STRENGTH_MAX), f"not in the prompt: {shown}{more}")


def _strangers(answer: str, prompt: str) -> Iterator[tuple[str, float]]:
    for mark, pattern, is_stock, weight in _OWNED:
        if mark in answer:
            for root, name in dict.fromkeys(pattern.findall(answer)):
                if not is_stock(name) and name not in prompt:
                    yield f"{root}{masked(name)}", weight
    if "@" in answer:
        for user, host in dict.fromkeys(_SHELL.findall(answer)):
            if not is_stock_host(host) and not (user in prompt and host in prompt):
                yield f"{masked(user)}@{masked(host)}", OF_A_USER
