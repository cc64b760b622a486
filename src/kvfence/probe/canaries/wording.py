"""The words around a marker in somebody's own prompt, and how they are known again in an answer. Pure.

In the prompt:  Canary code: <marker>.
At its end:     an ask that ends in the same label, so that a model which only goes on where a text stood before recites
                the marker as well. The label stands nowhere else in the ask.

Pages that another prompt left behind have the same label before another marker: whoever reads them recites that one.
"""

from __future__ import annotations

import re

from kvfence.probe.markers import GROUP

LABEL = "Canary code:"
ASK = (
    "\n\n(The text above holds one code of a canary, a check of the connection that has nothing to do with what is "
    "asked. Answer first as if it were not there. Then end with one more line that repeats the code, in this form:)\n"
    f"{LABEL}"
)
ANSWER_TOKENS = 48
"""Room for the marker and its label in an answer: 34 at most in the tokenizers that `docs/in-your-tests.md` names."""

DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
"""What models write for a hyphen when they set a text nicely."""

Atom = tuple[str, int, int]
"""A class of characters as an expression, and how often it stands at least and at most."""

_DECOR = r"[*_`>#\"'(\[ \t]"
_DECOR_END = r"[*_`\"')\]]"
_DASH = r"[-\u2010-\u2014\u2212]"


def carrier(marker: str) -> str:
    """The sentence that carries a marker in a prompt."""
    return f"{LABEL} {marker}."


def carrier_atoms() -> tuple[Atom, ...]:
    """The label and anything of a marker's shape behind it, with what models put around them.

    Changed characters match as well: a marker that came back garbled is not a customer's text either.
    """
    words = _literally("canary code")
    group: tuple[Atom, ...] = (("[0-9A-Z]", GROUP - 1, GROUP + 1),)
    marker = group + 4 * ((_DASH, 1, 1), *group)
    return (
        (r"\s", 0, 4),
        (_DECOR, 0, 6),
        *words,
        (_DECOR_END, 0, 3),
        (r"\s", 0, 1),
        ("i", 0, 1),
        ("s", 0, 1),
        ("[:=]", 0, 1),
        (_DECOR_END, 0, 3),
        (r"\s", 0, 2),
        (_DECOR, 0, 4),
        *marker,
        (_DECOR_END, 0, 4),
        (r"\.", 0, 1),
        (_DECOR_END, 0, 3),
    )


def bare_atoms(marker: str) -> tuple[Atom, ...]:
    """One marker without its label, with what models put around it."""
    text = tuple((_DASH, 1, 1) if char == "-" else atom for char in marker for atom in _literally(char))
    return ((r"\s", 0, 4), (_DECOR, 0, 4), *text, (_DECOR_END, 0, 4), (r"\.", 0, 1), (_DECOR_END, 0, 3))


def longest(atoms: tuple[Atom, ...]) -> int:
    """Characters of the longest text that the atoms match."""
    return sum(most for _, _, most in atoms)


def whole(atoms: tuple[Atom, ...]) -> str:
    """An expression for all of the atoms, one after the other."""
    return "".join(f"{chars}{{{least},{most}}}" for chars, least, most in atoms)


def beginning(atoms: tuple[Atom, ...]) -> str:
    """An expression for every text that can still become one that the atoms match."""
    expression = r"\Z"
    for chars, least, most in reversed(atoms):
        # Ending within this atom, or having enough of it and being in what follows.
        expression = f"(?:{chars}{{0,{most}}}\\Z|{chars}{{{least},{most}}}{expression})"
    return expression


def _literally(text: str) -> tuple[Atom, ...]:
    return tuple((r"\s" if char == " " else re.escape(char), 1, 1) for char in text)
