"""What a character of filler costs in tokens: a straight line through the prompts whose tokens are known. Pure.

All prompts of a campaign have the same fixed part (labels, markers, the ask) and filler that costs alike block by
block, so their tokens lie on one line. Markers differ by a token or two each, and that is the error that is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_CHARS_A_TOKEN = 4.0
"""English in common tokenizers; only until something is known."""
CHARS_A_TOKEN_MIN, CHARS_A_TOKEN_MAX = 0.4, 12.0
"""From a token for each byte, and a chat template beside a short prompt, to more than any tokenizer joins. Outside, a
count is of something else than the prompt: engines say 1, say, of one that they dropped."""
SPREAD_TOKENS = 250
"""How much longer the longest known prompt must be than the shortest before a line is drawn: fifty times what markers
differ by."""
OFF_THE_LINE = 0.1
OFF_A_SINGLE_COUNT = 0.5
"""How far off a count may be and still be believed: markers cost more than filler, and one count cannot tell them."""


@dataclass(slots=True)
class Line:
    """Tokens over characters of filler."""

    fixed_chars: int
    """Of a prompt without filler."""
    _points: list[tuple[int, int]] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        """Whether the tokens of any prompt are known."""
        return bool(self._points)

    @property
    def is_drawn(self) -> bool:
        """Whether prompts of different lengths are known; until then it is a guess."""
        tokens = [tokens for _, tokens in self._points]
        return bool(tokens) and max(tokens) - min(tokens) >= SPREAD_TOKENS

    @property
    def chars_a_token(self) -> float:
        """Of filler."""
        return 1 / self._slope_and_start()[0]

    def tokens_for(self, filler_chars: int) -> int:
        """Of a whole prompt."""
        slope, start = self._slope_and_start()
        return max(1, round(start + slope * filler_chars))

    def chars_for(self, tokens: float) -> int:
        """Filler of a prompt that has so many tokens in all."""
        slope, start = self._slope_and_start()
        return max(0, round((tokens - start) / slope))

    def note(self, filler_chars: int, tokens: int) -> None:
        """One more prompt is known."""
        self._points.append((filler_chars, tokens))

    def begin_as(self, other: Line) -> None:
        """Take over what is known of prompts with another fixed part, as if this one cost as much as filler."""
        added = round((self.fixed_chars - other.fixed_chars) / other.chars_a_token)
        self._points += [(chars, tokens + added) for chars, tokens in other._points]

    def believes(self, filler_chars: int, tokens: int) -> bool:
        """Whether a count can be of a prompt of this length."""
        if not self._points:
            return is_plausible(self.fixed_chars + filler_chars, tokens)
        expected = self.tokens_for(filler_chars)
        allowed = OFF_THE_LINE if self.is_drawn else OFF_A_SINGLE_COUNT
        return abs(tokens - expected) <= allowed * max(tokens, expected)

    def _slope_and_start(self) -> tuple[float, float]:
        """Tokens a character of filler, and tokens of a prompt without any."""
        if self.is_drawn:
            slope, start = _least_squares(self._points)
            if slope > 0:
                return slope, start
        chars, tokens = self._points[-1] if self._points else (0, round(self.fixed_chars / FIRST_CHARS_A_TOKEN))
        slope = tokens / (self.fixed_chars + chars)
        return slope, slope * self.fixed_chars


def is_plausible(chars: int, tokens: int) -> bool:
    """Whether any tokenizer makes so many tokens of so many characters."""
    return CHARS_A_TOKEN_MIN * tokens <= chars <= CHARS_A_TOKEN_MAX * tokens


def _least_squares(points: list[tuple[int, int]]) -> tuple[float, float]:
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x
