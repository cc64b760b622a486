"""A scan for whoever has to answer for it: the three questions first, then what was found, then what was not seen.

Its length is bounded whatever was found: so many rows of each table, worst first, and how many more there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kvfence.findings.exposure import Credential, Exposure, Logged, Match, Sign
from kvfence.findings.verdict import Verdict
from kvfence.report.as_text import page_text
from kvfence.report.plain_scan import plain_scan
from kvfence.report.scan_order import matches_worst_first, signs_surest_first, to_rotate_first
from kvfence.report.scan_words import answers, not_read_lines, reach, verdict_line
from kvfence.report.times import after, at_utc

ROWS_MAX = 20
"""Of each table."""
NAME_CHARS_MAX = 64
"""Of an id or a tenant: a UUID has 36, and what a client sent as its name may have thousands."""
PREVIEW_CHARS_MAX = 280
WIDE_COLUMNS = 110
"""From so many columns on a preview has one of its own."""
_STYLES = {Verdict.FOUND: "bold red", Verdict.UNKNOWN: "bold yellow", Verdict.CLEAN: "bold green"}


def print_scan(seen: Exposure, console: Console) -> None:
    """Print the whole of it."""
    is_wide = console.width >= WIDE_COLUMNS
    console.print(Group(*_parts(plain_scan(seen), is_wide=is_wide)), soft_wrap=False)


def as_text(seen: Exposure) -> str:
    """What a terminal would show."""
    return page_text(partial(print_scan, seen))


def _parts(seen: Exposure, *, is_wide: bool) -> Iterator[RenderableType]:
    yield Text(verdict_line(seen), style=_STYLES[seen.verdict])
    for question, answer in answers(seen):
        yield Text.assemble((f"{question} ", "bold"), answer)
    for line in reach(seen):
        yield Text(line, style="yellow")
    if seen.matches:
        yield from _titled("Text of other requests", _matches(matches_worst_first(seen), is_wide=is_wide))
        yield from _more(len(seen.matches))
    if seen.credentials:
        yield from _titled("To rotate", _credentials(to_rotate_first(seen)))
        yield from _more(len(seen.credentials))
    if seen.signs:
        yield from _titled("Signs of lost context: evidence, not proof", _signs(signs_surest_first(seen)))
        yield from _more(len(seen.signs))
    if seen.not_read:
        yield Text("\nNot read", style="bold")
    for line in not_read_lines(seen, ROWS_MAX):
        yield Text(f"  {line}", style="dim")


def _titled(title: str, table: Table) -> Iterator[RenderableType]:
    yield Text(f"\n{title}", style="bold")
    yield table


def _more(count: int) -> Iterator[RenderableType]:
    if count > ROWS_MAX:
        yield Text(f"  and {count - ROWS_MAX:,} more; --format json, csv and html have them", style="dim")


def _matches(matches: Sequence[Match], *, is_wide: bool) -> Table:
    table = _table("answer", "has text of", chars="right", score="right")
    if is_wide:
        table.add_column("preview", overflow="fold", ratio=1)
    for match in matches[:ROWS_MAX]:
        preview = Text(_cut(match.preview, PREVIEW_CHARS_MAX), style="dim")
        source = Text("\n").join(_whose(match))
        if not is_wide:
            source = Text("\n").join([source, preview])
        cells = [_named(match.response), source, Text(f"{match.span_chars:,}"), Text(f"{match.score:.2f}")]
        table.add_row(*cells, *([preview] if is_wide else []))
    return table


def _whose(match: Match) -> Iterator[Text]:
    yield _named(match.source)
    part = "in its prompt" if match.in_prompt else "in its answer"
    said = [part, after(match.between_ms), f"one of {match.candidates:,}" if match.candidates > 1 else ""]
    yield Text(", ".join(word for word in said if word), style="dim")


def _credentials(credentials: Sequence[Credential]) -> Table:
    table = _table("kind", "redacted", "first and last seen (UTC)", "owner", requests="right")
    for one in credentials[:ROWS_MAX]:
        times = dict.fromkeys(time for time in (at_utc(one.first_ms), at_utc(one.last_ms)) if time)
        kind = Text(_cut(one.kind, NAME_CHARS_MAX), style="bold red" if one.in_foreign_answer else "")
        if one.in_foreign_answer:
            kind.append("\nshown to somebody else")
        redacted = Text(f"{_cut(one.redacted, NAME_CHARS_MAX)}\n{_cut(one.fingerprint, NAME_CHARS_MAX)}")
        owner = Text(_cut(one.owner or "?", NAME_CHARS_MAX))
        table.add_row(kind, redacted, Text("\n".join(times) or "?"), owner, Text(f"{len(one.requests):,}"))
    return table


def _signs(signs: Sequence[Sign]) -> Table:
    table = _table("sign", "request", score="right", evidence="left")
    for sign in signs[:ROWS_MAX]:
        evidence = Text(_cut(sign.evidence, PREVIEW_CHARS_MAX))
        kind = Text(_cut(sign.kind, NAME_CHARS_MAX))
        table.add_row(kind, _named(sign.request), Text(f"{sign.score:.2f}"), evidence)
    return table


def _table(*left: str, **others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name, side in others.items():
        table.add_column(name, justify="right" if side == "right" else "left", overflow="fold")
    return table


def _named(logged: Logged) -> Text:
    rest = ", ".join(part for part in (_cut(logged.tenant or "", NAME_CHARS_MAX), at_utc(logged.at_ms)) if part)
    return Text(_cut(logged.id, NAME_CHARS_MAX)) + Text(f"\n{rest}" if rest else "", style="dim")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
