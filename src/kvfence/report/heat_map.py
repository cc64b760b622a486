"""Recall by length and depth as a map: which rows and columns it has, and the colours of its cells. Nothing is drawn.

Orange is none, blue is all, pale is between: the two ends of ColorBrewer's schemes PuOr and RdBu, which the common
kinds of colour-blindness tell apart. Every cell has its figure as well, in an ink that stands out from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.findings.depth_recall import DepthRecall, added
from kvfence.findings.recall import ProbeResult

Colour = tuple[int, int, int]
"""sRGB, 0 to 255."""

NONE, HALF, ALL = (179, 88, 6), (247, 247, 247), (33, 102, 172)
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


@dataclass(frozen=True, slots=True)
class HeatRow:
    """All answers to prompts of one length."""

    tokens: int
    recall: DepthRecall


def heat_rows(result: ProbeResult) -> tuple[HeatRow, ...]:
    """The shortest first; only lengths that were answered, and only prompts with as many markers as the first."""
    answered = [length for length in result.lengths if length.by_depth.answers]
    by_tokens: dict[int, list[DepthRecall]] = {}
    for length in answered:
        if len(length.by_depth.came_back) == len(answered[0].by_depth.came_back):
            by_tokens.setdefault(length.tokens, []).append(length.by_depth)
    return tuple(HeatRow(tokens, added(recalls)) for tokens, recalls in sorted(by_tokens.items()))


def depth_percents(depths: int) -> tuple[int, ...]:
    """How far into the prompt the markers stand: in the middle of equal parts."""
    return tuple(round(100 * (2 * depth + 1) / (2 * depths)) for depth in range(depths))


def percent(share: float) -> int:
    """Rounded so that 100 is all of them and 0 is none of them."""
    return min(99, max(1, int(100 * share))) if 0 < share < 1 else round(100 * share)


def colour(share: float) -> Colour:
    """The cell's colour, from 0 to 1."""
    low, high, part = (NONE, HALF, 2 * share) if share <= 0.5 else (HALF, ALL, 2 * share - 1)  # noqa: PLR2004 — the middle
    red, green, blue = (round(one + part * (other - one)) for one, other in zip(low, high, strict=True))
    return red, green, blue


def ink(background: Colour) -> Colour:
    """Black or white, whichever stands out more."""
    return max((BLACK, WHITE), key=lambda one: contrast(one, background))


def css_hex(shade: Colour) -> str:
    """As style sheets and terminals write it."""
    return "#" + "".join(f"{value:02x}" for value in shade)


def contrast(one: Colour, other: Colour) -> float:
    """The contrast ratio of WCAG 2.1, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(shade: Colour) -> float:
    red, green, blue = (_linear(value / 255) for value in shade)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    """As WCAG 2.1 defines relative luminance."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 — the standard's
