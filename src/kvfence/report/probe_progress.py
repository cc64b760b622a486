"""How far a probe is: one line for a log, or a few for a terminal, which are drawn again and again."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from kvfence.findings.progress import Progress
from kvfence.findings.recall import LengthVerdict

_MINUTE_S, _HOUR_S = 60, 3600


def progress_line(progress: Progress, gone_s: float) -> str:
    """All of it in one line. `gone_s`: seconds since the run began, as it is now."""
    return f"probe: {'; '.join((_tried(progress), _how_far(progress, gone_s), _spent(progress), _came(progress)))}"


def progress_lines(progress: Progress, gone_s: float) -> Group:
    """The same in four short lines, cut where the terminal ends."""
    bad = any(kind in _BAD for kind, _ in progress.answers)
    return Group(
        _line(_tried(progress), "bold"),
        _line(f"  {_how_far(progress, gone_s)}"),
        _line(f"  {_spent(progress)}"),
        _line(f"  {_came(progress)}", "bold red" if bad else ""),
    )


_BAD = frozenset({LengthVerdict.LEAK, LengthVerdict.OFF_TOPIC, LengthVerdict.GARBLED, LengthVerdict.TRUNCATED})


def duration(seconds: float) -> str:
    """A time as one reads it: the larger it is, the less is said of its small parts."""
    whole = max(0, round(seconds))
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S:02} s"
    return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02} min"


def _line(text: str, style: str = "") -> Text:
    return Text(text, style, no_wrap=True, overflow="ellipsis")


def _tried(progress: Progress) -> str:
    at_once = f"{progress.under_way} at once, " if progress.under_way > 1 else ""
    of = f"{progress.of}, " if progress.of else ""
    return f"{of}{progress.scenario}: {at_once}{progress.tokens:,} tokens ({progress.why})"


def _how_far(progress: Progress, gone_s: float) -> str:
    said = f"{progress.asked:,} of {_amount(progress.foreseen, progress)} requests done, {duration(gone_s)} gone"
    if progress.seconds_left is not None:
        left = progress.seconds_left - max(0.0, gone_s - progress.seconds)
        said += f", about {duration(left)} left"
    return f"{said}, then {progress.ends_by} ends it" if progress.ends_by else said


def _spent(progress: Progress) -> str:
    spent = progress.spent
    tokens, most = f"{spent.prompt_tokens + spent.answer_tokens:,}", progress.budget.tokens
    said = f"{tokens} of {_amount(progress.foreseen_tokens, progress)} tokens"
    said += "" if most is None else f" (at most {most:,})"
    if spent.usd is None:
        return said
    said += f", {spent.usd:,.2f} of {_amount(progress.foreseen_usd or 0.0, progress, '.2f')} US dollars"
    return said if progress.budget.usd is None else f"{said} (at most {progress.budget.usd:,.2f})"


def _amount(foreseen: float, progress: Progress, form: str = "") -> str:
    return f"{'about' if progress.is_all else 'more than'} {foreseen:,{form}}"


def _came(progress: Progress) -> str:
    if not progress.answers:
        return "nothing has come back yet"
    return "answers so far: " + ", ".join(f"{kind} {count:,}" for kind, count in progress.answers)
