"""The first look at all of a text: which rules might find something in it. It misses nothing that they would find."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TERMINATOR = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""
"""What two thirds of Kingfisher's rules want after the value; `Scanner` puts it there."""
_AROUND = (
    (r"""[\s'"]{0,3}""", r"""[\s'"\\]{0,9}"""),
    (r"""[\x60'"\s=]{0,5}""", r"""[\x60'"\s=\\]{0,9}"""),
    (r"\b", ""),
)
"""Between a name, its sign and its value escaped quotes may stand, and before a value the letter of an escape."""
_REPEAT = re.compile(r"(?<!\\)\{(\d+)(?:,(\d*))?\}")
_EXACT_MAX = 40
"""Longer repeats are compiled as open ones: a third of the time, and as little is let through."""


def loosened(pattern: str) -> str:
    """A pattern that is compiled in less time and matches whenever this one does.

    Also where it would if the text had no escapes in it, and a space behind the value.
    """
    bare = pattern.removesuffix(_TERMINATOR)
    for strict, loose in _AROUND:
        bare = bare.replace(strict, loose)
    return _REPEAT.sub(_open_repeat, bare)


def compiled(patterns: Sequence[str]) -> bytes:
    """A database for `Prefilter`: the rules and nothing else. It fits processors of this machine's kind."""
    import hyperscan  # noqa: PLC0415 — it takes a while, and only the parent compiles

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[loosened(pattern).encode() for pattern in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_SINGLEMATCH] * len(patterns),
    )
    dumped: bytes = hyperscan.dumpb(database)
    return dumped


def is_usable(database: bytes) -> bool:
    """Whether it was compiled, is whole and fits this processor."""
    import hyperscan  # noqa: PLC0415 — see above

    try:
        hyperscan.loadb(database, hyperscan.HS_MODE_BLOCK)
    except hyperscan.HyperscanError:
        return False
    return True


class Prefilter:
    """Of one thread."""

    def __init__(self, database: bytes) -> None:
        import hyperscan  # noqa: PLC0415 — see above

        self._database = hyperscan.loadb(database, hyperscan.HS_MODE_BLOCK)
        self._database.scratch = hyperscan.Scratch(self._database)
        self._hits: list[int] = []

    def hits(self, text: memoryview) -> list[int]:
        """Which patterns might match, by their place among those compiled."""
        self._hits = []
        self._database.scan(text, match_event_handler=self._note)  # type: ignore[type-var]  # any buffer will do
        return sorted(self._hits)

    def _note(self, number: int, *_: object) -> None:
        self._hits.append(number)


def _open_repeat(found: re.Match[str]) -> str:
    least, most = int(found[1]), found[2]
    if least <= _EXACT_MAX and (most is None or (most and int(most) <= _EXACT_MAX)):
        return found[0]
    return f"{{{min(least, _EXACT_MAX)},}}"
