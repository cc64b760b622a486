"""Making a prompt exactly as long as wanted, without knowing the tokenizer.

The endpoint's own `/tokenize` where it has one; else what it said of earlier prompts (`usage.prompt_tokens`), as
tokens a character, with the error that this leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kvfence.probe.prompts import Prompt, Recipe, build, fixed_chars

TRIES = 8
FIRST_CHARS_A_TOKEN = 4.0
"""English in common tokenizers; corrected by the first count."""


@dataclass(slots=True)
class Fitter:
    """Fits prompts to lengths. `count` gives tokens of a text, or None where nobody can say before asking."""

    key: bytes
    count: Callable[[str], int | None]
    exact: bool = field(default=True, init=False)
    _chars_a_token: float = field(default=FIRST_CHARS_A_TOKEN, init=False)

    def fit(self, recipe: Recipe, tokens: int) -> tuple[Recipe, Prompt, int]:
        """A recipe of the same seed whose prompt has `tokens` tokens, or as near as can be told."""
        chars = self._chars_for(tokens)
        best: tuple[int, Recipe, Prompt, int] | None = None
        for _ in range(TRIES):
            tried = Recipe(seed=recipe.seed, tenant=recipe.tenant, request=recipe.request, filler_chars=chars)
            prompt = build(tried, self.key)
            counted = self.count(prompt.text)
            if counted is None:
                self.exact = False
                return tried, prompt, tokens
            self._learn_ratio(len(prompt.text), counted)
            if best is None or abs(counted - tokens) < best[0]:
                best = abs(counted - tokens), tried, prompt, counted
            if counted == tokens or (chars == 0 and counted > tokens):
                break
            step = round((tokens - counted) * self._chars_a_token)
            chars = max(0, chars + (step or (1 if tokens > counted else -1)))
        if best is None:
            raise RuntimeError("no try was made")
        return best[1], best[2], best[3]

    def learn(self, prompt: Prompt, counted: int) -> None:
        """Take over what the endpoint said of a prompt that it answered."""
        if not self.exact:
            self._learn_ratio(len(prompt.text), counted)

    @property
    def method(self) -> str:
        """How lengths are made, in words."""
        if self.exact:
            return "the endpoint's /tokenize, exact"
        return (
            f"usage.prompt_tokens of earlier prompts, {self._chars_a_token:.2f} characters a token; a few percent off"
        )

    def _chars_for(self, tokens: int) -> int:
        return max(0, round(tokens * self._chars_a_token) - fixed_chars())

    def _learn_ratio(self, chars: int, tokens: int) -> None:
        if tokens > 0:
            self._chars_a_token = chars / tokens
