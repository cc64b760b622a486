"""Making a prompt exactly as long as wanted, without knowing the tokenizer.

Where somebody counts (the endpoint's `/tokenize`, or a tokenizer file), a prompt is built a little short by what is
known of shorter ones, counted once, and made exact by padding its first line: what that costs is counted on the line
alone. So a prompt of a million tokens is sent to be counted twice, and not once for each try. Where nobody counts, what
the endpoint said of earlier prompts (`usage.prompt_tokens`) says how long the next one will be, with the error seen.
Before it has said anything, a prompt is kept so short that it fits even where each byte is a token.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from math import ceil

from kvfence.probe.calibration import CHARS_A_TOKEN_MAX, FIRST_CHARS_A_TOKEN, Line, is_plausible
from kvfence.probe.prompts import Ask, Prompt, Recipe, build, fixed_chars, opening

WHOLE_COUNTS, WHOLE_COUNTS_SHORT = 4, 8
"""How often a whole prompt is counted at most: a long one, for which two are usual, and a short one."""
PAD_COUNTS = 8
"""How often a first line is counted at most."""
CALIBRATE_OVER_TOKENS = 16_384
"""A first prompt longer than this is not tried at a guess: shorter ones are counted before, up to an eighth of it."""
CALIBRATION_CHARS = 4_000
PAD_STEPS = 12
"""How many letters more or less are tried, where a padding is off by a token or two."""
PAD_CHARS_A_TOKEN = 3.2
"""Where words of the padding are a token each."""
ESTIMATE_MARGIN, ESTIMATE_MARGIN_TOKENS = 1.1, 64
"""By what an estimate that rests on two lengths is never exceeded."""
FIRST_OF_LONGEST = 0.75
"""How much of the longest prompt the first one may have where each byte is a token: longer ones have to follow it."""
TEMPLATE_TOKENS_MAX = 256
"""A larger difference between a count and usage is no chat template, but something to be told."""
CONTRADICTED = 1.1
"""By how much usage must be over a count to be told of: a template is of one length, this grows with the prompt."""

Count = Callable[[str], Awaitable[int | None]]
"""Tokens of a text, or None where nobody can say before asking."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Somebody who counts, and who that is, in words."""

    count: Count
    name: str = "the endpoint's /tokenize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A prompt fitted to a length."""

    recipe: Recipe
    prompt: Prompt
    tokens: int
    exact: bool
    """Whether it was counted, or it is an estimate."""


@dataclass(slots=True)
class Fitter:
    """Fits prompts to lengths."""

    key: bytes
    counter: Counter
    longest: int | None = None
    """Tokens of the longest prompt that the endpoint says it takes; None: nobody says."""
    _is_answered: bool = field(default=False, init=False)
    """Whether any prompt was answered."""
    _lines: dict[tuple[int, Ask], Line] = field(default_factory=dict, init=False)
    """By depths and what is asked for: the fixed part differs."""
    _template_tokens: int | None = field(default=None, init=False)
    _estimates_made: bool = field(default=False, init=False)
    _usage_over_count: float | None = field(default=None, init=False)
    """How many times a count the usage of the same prompt was at most; None until an answer came, with usage or not."""
    _errors: list[float] = field(default_factory=list, init=False)
    """How far estimates were off, since there were two lengths to estimate from."""

    async def fit(self, recipe: Recipe, tokens: int) -> Fitted:
        """A recipe of the same seed whose prompt has `tokens` tokens, or as near as can be told."""
        line = self._line(recipe)
        if tokens > CALIBRATE_OVER_TOKENS and not line.is_drawn:
            await self._calibrate(recipe, tokens)
        short_by = _slack(tokens)
        best: Fitted | None = None
        tried = replace(recipe, filler_chars=line.chars_for(tokens - short_by))
        for _ in range(WHOLE_COUNTS if tokens > CALIBRATE_OVER_TOKENS else WHOLE_COUNTS_SHORT):
            fitted = await self._counted(tried)
            if fitted is None:
                self._estimates_made = True
                return best or self._estimated(recipe, tokens)
            missing = tokens - fitted.tokens
            if best is None or abs(missing) < abs(tokens - best.tokens):
                best = fitted
            if missing == 0 or (missing < 0 and tried.filler_chars == 0):
                break
            pad = 0
            if tried.pad_chars:
                pad = await self._pad_beside(tried, missing)
            elif 0 < missing <= 4 * short_by:
                pad = await self._pad_for(tried, missing)
            chars = tried.filler_chars + round((missing - short_by) * line.chars_a_token)
            chars = min(max(0, chars), round(CHARS_A_TOKEN_MAX * tokens))
            tried = replace(tried, pad_chars=pad) if pad > 0 else replace(tried, filler_chars=chars, pad_chars=0)
        if best is None:
            raise RuntimeError("no try was made")
        return best

    def learn(self, fitted: Fitted, usage_tokens: int) -> int:
        """Take over what the endpoint said of a prompt that it answered; returns the prompt's tokens."""
        line, chars = self._line(fitted.recipe), fitted.recipe.filler_chars
        self._is_answered = True
        if not fitted.exact:
            if not line.believes(chars, usage_tokens):
                return fitted.tokens
            if line.is_drawn:
                self._errors.append(abs(fitted.tokens - usage_tokens) / usage_tokens)
            line.note(chars, usage_tokens)
            return usage_tokens
        if self._template_tokens is None:
            added = usage_tokens - fitted.tokens
            self._template_tokens = added if 0 <= added <= TEMPLATE_TOKENS_MAX else 0
            fitted = replace(fitted, tokens=fitted.tokens + self._template_tokens)
        self._usage_over_count = max(self._usage_over_count or 1.0, usage_tokens / fitted.tokens)
        return fitted.tokens

    def learn_nothing(self) -> None:
        """A prompt was answered and nobody said how many tokens it had: counts are all there is."""
        self._is_answered = True
        self._usage_over_count = self._usage_over_count or 1.0

    def tokens_max(self, fitted: Fitted) -> int:
        """What the prompt has at most, in whatever tokenizer: a limit on spending goes by it."""
        at_most = len(fitted.prompt.text.encode()) + TEMPLATE_TOKENS_MAX
        if fitted.exact:
            if self._usage_over_count is None:
                return at_most  # a count that nothing bears out may be another tokenizer's
            template = TEMPLATE_TOKENS_MAX if self._template_tokens is None else 0
            return min(ceil(fitted.tokens * self._usage_over_count) + template, at_most)
        if self._line(fitted.recipe).is_drawn:
            return round(ESTIMATE_MARGIN * fitted.tokens) + ESTIMATE_MARGIN_TOKENS
        return at_most

    def recall(self, recipe: Recipe, usage_tokens: int | None) -> None:
        """Take over what the endpoint said of a prompt that it answered before the campaign was cut off."""
        self._is_answered = True
        if usage_tokens is None:
            return
        line = self._line(recipe)
        if not recipe.pad_chars and line.believes(recipe.filler_chars, usage_tokens):
            line.note(recipe.filler_chars, usage_tokens)

    @property
    def is_calibrated(self) -> bool:
        """Whether an estimate rests on prompts of different lengths."""
        return any(line.is_drawn for line in self._lines.values())

    @property
    def method(self) -> str:
        """How lengths were made, in words."""
        if not self._estimates_made:
            added = self._template_tokens
            times = self._usage_over_count or 1.0
            return (
                f"{self.counter.name}, exact"
                + f", with {added} more of the chat template by its usage" * bool(added)
                + f"; but usage says up to {times:.1f} times as many" * (times > CONTRADICTED)
            )
        if not any(line.is_known for line in self._lines.values()):
            return f"nobody: {FIRST_CHARS_A_TOKEN:g} characters a token are a guess, and so is every length"
        if not self._errors:
            return "usage.prompt_tokens of few prompts: the others' lengths may be several percent off"
        chars_a_token = next(iter(self._lines.values())).chars_a_token
        return (
            f"usage.prompt_tokens of earlier prompts, {chars_a_token:.2f} characters a token: "
            f"{len(self._errors)} estimates were at most {max(self._errors):.2%} off, the last {self._errors[-1]:.2%}"
        )

    def _line(self, recipe: Recipe) -> Line:
        depths, ask = recipe.depths, recipe.form.ask
        if (depths, ask) not in self._lines:
            line = Line(fixed_chars(depths, ask))
            if codes := self._lines.get((depths, Ask.CODES)):
                line.begin_as(codes)
            self._lines[depths, ask] = line
        return self._lines[depths, ask]

    async def _counted(self, recipe: Recipe) -> Fitted | None:
        prompt = build(recipe, self.key)
        counted = await self.counter.count(prompt.text)
        if counted is None or not is_plausible(len(prompt.text), counted):
            return None
        counted += self._template_tokens or 0
        if not recipe.pad_chars:
            self._line(recipe).note(recipe.filler_chars, counted)
        return Fitted(recipe=recipe, prompt=prompt, tokens=counted, exact=True)

    def _estimated(self, recipe: Recipe, tokens: int) -> Fitted:
        line = self._line(recipe)
        chars = line.chars_for(tokens)
        if not self._is_answered and self.longest is not None:
            # A guess of which nothing is known: not even where each byte is a token may it be longer than is taken.
            most = max(tokens, round(FIRST_OF_LONGEST * self.longest))
            if line.fixed_chars + chars > most:
                chars = max(0, most - line.fixed_chars)
                tokens = line.tokens_for(chars)
        tried = replace(recipe, filler_chars=chars)
        if not tried.filler_chars:
            tokens = max(tokens, line.tokens_for(0))  # no prompt is shorter, whatever was wanted
        return Fitted(recipe=tried, prompt=build(tried, self.key), tokens=tokens, exact=False)

    async def _calibrate(self, recipe: Recipe, tokens: int) -> None:
        for chars in (CALIBRATION_CHARS, 8 * CALIBRATION_CHARS, tokens // 2):
            if await self._counted(replace(recipe, filler_chars=chars)) is None:
                return

    async def _pad_for(self, recipe: Recipe, tokens: int) -> int:
        """Characters of padding that add so many tokens, or nearly, counted on the first line alone."""
        bare = await self.counter.count(opening(recipe))
        pad = round(tokens * PAD_CHARS_A_TOKEN)
        best = (tokens, pad)
        for _ in range(PAD_COUNTS):
            counted = await self.counter.count(opening(replace(recipe, pad_chars=pad)))
            if bare is None or counted is None:
                break
            added = counted - bare
            best = min(best, (abs(tokens - added), pad))
            if added == tokens:
                break
            step = round((tokens - added) * pad / max(added, 1))
            pad = pad + (step or (1 if tokens > added else -1))
            pad = min(max(1, pad), round(CHARS_A_TOKEN_MAX * tokens))
        return best[1]

    async def _pad_beside(self, recipe: Recipe, tokens: int) -> int:
        """A padding a little longer or shorter that makes a difference of so many tokens, by the first line's count.

        One letter more can make no token more or two, as words merge; so the lengths around are tried, the nearest
        first. Where none of them does, a guess.
        """
        pad = recipe.pad_chars
        before = await self.counter.count(opening(recipe))
        for step in range(1, PAD_STEPS + 1):
            for other in (pad + step, pad - step):
                counted = await self.counter.count(opening(replace(recipe, pad_chars=max(1, other))))
                if before is None or counted is None:
                    return max(1, pad + 2 * tokens)
                if counted - before == tokens:
                    return max(1, other)
        return max(1, pad + 2 * tokens)


def _slack(tokens: int) -> int:
    """By how many tokens a prompt is built too short at first: more than the estimate is off, as a rule."""
    return 16 + tokens // 2048
