"""What may stand in a lock file. A fact misspelt, or of another kind, would be compared with nothing, and pass."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from kvfence.audit.baseline.direction import WATCHED, Wrong
from kvfence.facts.fact import FACT_NAMES

TOP = ("schema", "kvfence", "nodes")
"""What stands above the nodes."""
_SIZE_ENDS = ("_tokens", "_length", "_len", "_size", "_slots")
_TEXTS = frozenset(one.fact for one in WATCHED if one.wrong in {Wrong.OLDER, Wrong.LOST})
_SWITCHES = frozenset(one.fact for one in WATCHED if one.wrong in {Wrong.SWITCHED_OFF, Wrong.SWITCHED_ON})


def wrong_name(name: str, names: Iterable[str] = FACT_NAMES) -> str | None:
    """What to say of a name that stands there and means nothing; None if it is one of `names`."""
    known = list(names)
    if name in known:
        return None
    near = get_close_matches(name, known, n=1)
    return f"{name} is nothing that this kvfence compares" + (f"; {near[0]} is" if near else "")


def wrong_value(name: str, value: object) -> str | None:
    """What a fact of that name must be, if this value is not; None if it may be."""
    match value:
        case bool():
            fits = not name.endswith(_SIZE_ENDS) and name not in _TEXTS
        case int():
            fits = value >= 0 and name not in _TEXTS | _SWITCHES
        case str():
            fits = not name.endswith(_SIZE_ENDS)
        case _:
            return "text, a whole number or true or false"
    return None if fits else _must_be(name)


def _must_be(name: str) -> str:
    if name in _TEXTS:
        return "text"
    return "true, false or text" if name in _SWITCHES else "a whole number, 0 or more"
