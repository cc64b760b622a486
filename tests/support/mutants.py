"""Lines of real logs with something changed in them, and what may still be read in such a line.

The oracle knows no engine's line. It knows that a number which is claimed has to stand in the log as a number of its
own, not as a piece of another one, unless it is one of the few that are computed from such numbers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kvfence.facts.fact import NodeFacts

_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:[.,_]\d+)*(?!\w)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_SPLICES = (
    *(
        "",
        " ",
        ",",
        ".",
        "'",
        '"',
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "=",
        ":",
        "-",
        "_",
        "\\",
        "\t",
        "\r",
        "\0",
        "\x1b[31m",
    ),
    *(
        "\x1b[31m",
        "²",
        "9",
        "0",
        "-1",
        "1e9",
        "0x40",
        "None",
        "True",
        "P ",
        " | ",
        "9" * 400,
        "\ufeff",
        "\u2028",
        "é",
        "\x85",
    ),
)
_NUMBERS = (
    "0",
    "1",
    "00064",
    "-1",
    "-681280",
    "2.5",
    "1e6",
    "0x400",
    "1,2",
    "1,048,576",
    "9" * 15,
    "9" * 30,
    "٣٤",
    "²",
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """What became of a line, and what was done to it."""

    text: str
    done: str


def mutant(rng: random.Random, lines: Sequence[str]) -> Mutant:
    """One of these lines with one to three changes."""
    text, done = rng.choice(lines), []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(_CHANGES)
        text = change(rng, text, lines)
        done.append(change.__name__.strip("_"))
    return Mutant(text, " ".join(done))


def invented(node: NodeFacts, text: str) -> list[str]:
    """The facts of a node that are numbers and cannot be had from this text."""
    allowed = _numbers(text)
    return [
        f"{name}={fact.value}"
        for name, fact in node.facts.items()
        if type(fact.value) is int and not _may_be_claimed(name, fact.value, allowed)
    ]


def _numbers(text: str) -> set[int]:
    found = set()
    plain = re.sub(r"\x1b\[\d*m", "", text)
    # In a command a shell's quoting is no part of a word: `6\5536` and `6''5536` are 65536.
    unquoted = re.sub(r"""[\\'"]""", "", plain) if " --" in plain else ""
    for match in _NUMBER.finditer(f"{plain}\n{unquoted}"):
        digits = match[0]
        if _DIGITS.fullmatch(digits.removeprefix("-")):
            found.add(int(digits[:4000]))
        elif _GROUPED.fullmatch(digits):
            found.add(int(digits.replace(",", "")))
        else:
            # A list or settings without blanks, `a=1,2`: each is a number of its own.
            found.update(int(part) for part in re.split(r",", digits) if _DIGITS.fullmatch(part))
    return found


def _may_be_claimed(name: str, value: int, allowed: set[int]) -> bool:
    if value in allowed:
        return True
    match name:
        case "max_req_input_len":
            return value + 6 in allowed or value == 0
        case "usable_length":
            return value + 7 in allowed or value + 1 in allowed or value == 0
        case "pool_tokens":
            return any(number > 0 and value % number == 0 and value // number in allowed for number in allowed)
        case "page_size":
            return any(number * value in allowed for number in allowed)
        case _:
            return False


def _other_number(rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    places = list(_DIGITS.finditer(text))
    if not places:
        return text
    place = rng.choice(places)
    other = rng.choice(_NUMBERS) if rng.random() < 0.5 else str(rng.randrange(10 ** rng.randint(1, 9)))
    return text[: place.start()] + other + text[place.end() :]


def _spliced(rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.choice((0, 0, 1, 2, 20)))
    return text[:start] + rng.choice(_SPLICES) + text[end:]


def _spliced_in_a_number(rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    places = list(_DIGITS.finditer(text))
    if not places:
        return text
    place = rng.choice(places)
    at = rng.randint(place.start(), place.end())
    return text[:at] + rng.choice(_SPLICES) + text[at:]


def _cut(rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    return text[: rng.randint(0, len(text))]


def _beheaded(rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    return text[rng.randint(0, len(text)) :]


def _crossed(rng: random.Random, text: str, lines: Sequence[str]) -> str:
    other = rng.choice(lines)
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _quoted(_rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    return f"INFO: prompt: {text!r}"


def _doubled(_rng: random.Random, text: str, _lines: Sequence[str]) -> str:
    return f"{text} {text}"


_CHANGES: tuple[Callable[[random.Random, str, Sequence[str]], str], ...] = (
    *(_other_number, _other_number, _spliced, _spliced_in_a_number, _cut, _beheaded, _crossed, _quoted, _doubled),
)
