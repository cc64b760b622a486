"""Making a prompt exactly as long as wanted, without knowing the tokenizer.

The endpoint's own `/tokenize` where it has one, corrected once by what a chat template adds; else what it said of
earlier prompts (`usage.prompt_tokens`): a line through two of them, with the error that this leaves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from kvfence.probe.prompts import Prompt, Recipe, build, fixed_chars

TRIES = 8
FIRST_CHARS_A_TOKEN = 4.0
"""English in common tokenizers; corrected by the first count."""
TEMPLATE_TOKENS_MAX = 256
"""A larger difference between `/tokenize` and usage is no chat template, but something to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A prompt fitted to a length."""

    recipe: Recipe
    prompt: Prompt
    tokens: int
    exact: bool
    """Whether the endpoint counted it, or it is an estimate."""


@dataclass(slots=True)
class Fitter:
    """Fits prompts to lengths. `count` gives tokens of a text, or None where nobody can say before asking."""

    key: bytes
    count: Callable[[str], Awaitable[int | None]]
    _template_tokens: int | None = field(default=None, init=False)
    _estimates_made: bool = field(default=False, init=False)
    _shorter: tuple[int, int] | None = field(default=None, init=False)
    """Characters and tokens of the shortest prompt that is known."""
    _latest: tuple[int, int] | None = field(default=None, init=False)

    async def fit(self, recipe: Recipe, tokens: int) -> Fitted:
        """A recipe of the same seed whose prompt has `tokens` tokens, or as near as can be told."""
        chars = max(0, self._chars_for(tokens) - fixed_chars(recipe.depths))
        best: Fitted | None = None
        for _ in range(TRIES):
            tried = replace(recipe, filler_chars=chars)
            prompt = build(tried, self.key)
            counted = await self.count(prompt.text)
            if counted is None:
                self._estimates_made = True
                return Fitted(recipe=tried, prompt=prompt, tokens=tokens, exact=False)
            counted += self._template_tokens or 0
            self._note(len(prompt.text), counted)
            if best is None or abs(counted - tokens) < abs(best.tokens - tokens):
                best = Fitted(recipe=tried, prompt=prompt, tokens=counted, exact=True)
            if counted == tokens or (chars == 0 and counted > tokens):
                break
            step = round((tokens - counted) * self._chars_a_token)
            chars = max(0, chars + (step or (1 if tokens > counted else -1)))
        if best is None:
            raise RuntimeError("no try was made")
        return best

    def learn(self, fitted: Fitted, usage_tokens: int) -> int:
        """Take over what the endpoint said of a prompt that it answered; returns the prompt's tokens."""
        if not fitted.exact:
            if self._latest is not None and 2 * usage_tokens < fitted.tokens:
                return fitted.tokens  # not a count of this prompt: engines say 1, say, of one that they dropped
            self._note(len(fitted.prompt.text), usage_tokens)
            return usage_tokens
        if self._template_tokens is None:
            added = usage_tokens - fitted.tokens
            self._template_tokens = added if 0 <= added <= TEMPLATE_TOKENS_MAX else 0
            return fitted.tokens + self._template_tokens
        return fitted.tokens

    def recall(self, recipe: Recipe, usage_tokens: int) -> None:
        """Take over what the endpoint said before the campaign was cut off."""
        self._note(fixed_chars(recipe.depths) + recipe.filler_chars, usage_tokens)

    @property
    def method(self) -> str:
        """How lengths were made, in words."""
        if self._estimates_made:
            return (
                f"usage.prompt_tokens of earlier prompts, {self._chars_a_token:.2f} characters a token; "
                "a few percent off where nothing was answered"
            )
        added = (
            f", with {self._template_tokens} more of the chat template by its usage" if self._template_tokens else ""
        )
        return f"the endpoint's /tokenize, exact{added}"

    @property
    def _chars_a_token(self) -> float:
        match self._shorter, self._latest:
            case (short_chars, short_tokens), (chars, tokens) if chars > short_chars and tokens > short_tokens:
                return (chars - short_chars) / (tokens - short_tokens)
            case _, (chars, tokens):
                return chars / max(1, tokens)
            case _:
                return FIRST_CHARS_A_TOKEN

    def _chars_for(self, tokens: int) -> int:
        """Characters of a whole prompt: from the latest that is known, along the line through it and the shortest."""
        known_chars, known_tokens = self._latest or (0, 0)
        return round(known_chars + (tokens - known_tokens) * self._chars_a_token)

    def _note(self, chars: int, tokens: int) -> None:
        self._latest = (chars, tokens)
        if self._shorter is None or chars < self._shorter[0]:
            self._shorter = self._latest
