"""The rotation list: those shown to somebody else first, as CSV or Markdown by the file's name."""

from __future__ import annotations

from pathlib import PurePath

import pytest
from markdown_it import MarkdownIt

from kvfence.errors import UsageError
from kvfence.report.scan_rotation import COLUMNS, as_csv, as_markdown, writer_for
from support.audit_results import HOSTILE
from support.exposures import FORMULAS, credential, exposure, exposure_of


def test_what_somebody_else_was_shown_comes_first():
    """Then what stood in the most requests."""
    many = credential("many", requests=("a", "b", "c"))
    shown = credential("shown", in_foreign_answer=True)
    made = as_csv(exposure(credentials=(credential("one"), many, shown)))
    assert [line.split(",")[0] for line in made.splitlines()[1:]] == ['"shown"', '"many"', '"one"']


@pytest.mark.parametrize(("name", "writer"), [("a.csv", as_csv), ("a.MD", as_markdown)])
def test_the_name_says_the_form(name, writer):
    """In any case."""
    assert writer_for(PurePath(name)) is writer


def test_another_name_is_wrong_use():
    """With what to do."""
    with pytest.raises(UsageError, match=r"\.csv or \.md"):
        writer_for(PurePath("rotate.xlsx"))


@pytest.mark.parametrize("text", [*HOSTILE, *FORMULAS, "a | b", "[x](http://evil.example)", "# head", "`code`"])
def test_no_text_becomes_markup(text):
    """In a reader of Markdown the page has our one heading and one table, with a row each, and no element."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(as_markdown(exposure_of(text)))
    kinds = [token.type for token in tokens]
    assert kinds.count("heading_open") == kinds.count("table_open") == 1
    assert kinds.count("tr_open") == 1 + 2
    assert kinds.count("td_open") == 2 * len(COLUMNS)
    inside = {child.type for token in tokens for child in token.children or ()}
    assert inside <= {"text", "text_special"}
    assert "html_block" not in kinds


def test_an_empty_list_says_how_far_it_reaches():
    """Nothing found is not nothing there."""
    made = as_markdown(exposure(not_looked_for=("secrets",)))
    assert "0 secrets" in made
    assert "Not looked for: secrets." in made
