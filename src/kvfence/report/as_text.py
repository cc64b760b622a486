"""A report as the text of a file: a document as JSON, or what a terminal would show."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping

from rich.console import Console

FILE_COLUMNS = 120
"""How wide a table is where there is no terminal to ask."""


def json_text(document: Mapping[str, object]) -> str:
    """With a newline at its end. ASCII, since a file name or an endpoint's message may hold what is no text."""
    return json.dumps(document, indent=2) + "\n"


def page_text(show: Callable[[Console], None], columns: int = FILE_COLUMNS) -> str:
    """What `show` prints, without colours."""
    page = io.StringIO()
    show(Console(file=page, width=columns))
    return page.getvalue()
