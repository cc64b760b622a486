"""Where something may change along the length of a prompt, and which lengths stand on both sides of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

NEAR_LIMIT_TOKENS = 32
SWEEP_FROM = 2
"""The sweep's shortest length is at least so many times the control's: a shorter one would ask the same again."""
MULTIPLE_NEAR_TOKENS = 8192
"""A page's boundary is met at any length, so one is chosen at which a prompt is cheap and has many pages."""

LengthAndWhy = tuple[int, str]


@dataclass(frozen=True, slots=True, order=True)
class Boundary:
    """A length, in tokens, past which something is other."""

    tokens: int
    name: str
    """What it is, such as "KV pool of prefill-0"."""


def geometric(declared: int, *, factor: int, above: int) -> Iterator[LengthAndWhy]:
    """Half of what is declared, and down from there by `factor`; only the half where the factor is under 2."""
    tokens, part = declared // 2, 2
    while tokens > above:
        yield tokens, f"1/{part} of the declared context"
        if factor < 2:  # noqa: PLR2004 — nothing shorter is between
            return
        part *= factor
        tokens = declared // part


def both_sides(boundary: Boundary, answer_tokens: int) -> Iterator[LengthAndWhy]:
    """A prompt that fits together with its answer, and one that does not fit alone."""
    shown = f"{boundary.name} {boundary.tokens:,}"
    yield boundary.tokens - answer_tokens - NEAR_LIMIT_TOKENS, f"just under the {shown}"
    yield boundary.tokens + NEAR_LIMIT_TOKENS, f"just over the {shown}"


def around_multiple(unit: int) -> Iterator[LengthAndWhy]:
    """A multiple of a page or chunk, one token less and one more."""
    times = max(1, round(MULTIPLE_NEAR_TOKENS / unit))
    shown = f"{times:,} x {unit:,}"
    yield times * unit - 1, f"one less than {shown}"
    yield times * unit, f"{shown} tokens: the last page or chunk is just full"
    yield times * unit + 1, f"one more than {shown}"


def stated_in(details: Iterable[str], *, between: tuple[int, int]) -> list[int]:
    """Figures in an endpoint's refusals that lie between two lengths: it may name its own limit."""
    low, high = between
    figures = (int(figure.replace(",", "")) for detail in details for figure in _FIGURE.findall(detail))
    return sorted({figure for figure in figures if low < figure < high})


_FIGURE = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])|(?<![\d.,])\d{3,9}(?![\d.]\d)")
