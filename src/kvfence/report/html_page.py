"""Single-file HTML reports: one template, no request to anywhere, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2
from markupsafe import Markup, escape

__all__ = ["Markup", "StripCell", "escape", "page_strip", "render_page", "typed"]

CELLS_MAX = 96
"""Pages drawn in one strip; more are drawn as groups, each in the colour of its first page."""

_TYPED = re.compile(r"`(?P<command>[^`]+)`|(?<![\w-])(?P<option>--[a-z0-9][\w-]*)")


@dataclass(frozen=True, slots=True)
class StripCell:
    """One square of a strip of pages."""

    owner: str
    first: int
    last: int


def page_strip(owners: Sequence[str]) -> list[StripCell]:
    """Pages in order as at most `CELLS_MAX` squares. A page that differs from its neighbours is never hidden."""
    runs: list[StripCell] = []
    for page, owner in enumerate(owners):
        if runs and runs[-1].owner == owner:
            runs[-1] = StripCell(owner, runs[-1].first, page)
        else:
            runs.append(StripCell(owner, page, page))
    width = max(1, -(-len(owners) // max(1, CELLS_MAX - len(runs))))
    return [
        StripCell(run.owner, start, min(start + width - 1, run.last))
        for run in runs
        for start in range(run.first, run.last + 1, width)
    ]


def typed(text: str) -> Markup:
    """The text with what one types in it set apart: `a command` in a sentence, and the name of an --option.

    An option must not be broken after its dashes: what is copied from two lines is no option.
    """
    return Markup("").join(_typed(text))


def _typed(text: str) -> Iterator[Markup]:
    end = 0
    for found in _TYPED.finditer(text):
        yield escape(text[end : found.start()])
        if found["command"]:
            yield Markup("<code>{}</code>").format(found["command"])
        else:
            yield Markup('<code class="option">{}</code>').format(found["option"])
        end = found.end()
    yield escape(text[end:])


def render_page(template: str, **values: object) -> str:
    """The page as text. Raises `jinja2.UndefinedError` when a value is missing."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    """One for all pages: a template is compiled once."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kvfence.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["strip"] = page_strip
    environment.filters["typed"] = typed
    return environment
