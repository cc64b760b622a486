"""A scan as a letter: figures and plain words, nobody else's name, and no text of anybody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kvfence.report.scan_formats import ScanFormat
from support.audit_results import HOSTILE
from support.exposures import (
    FORMULAS,
    credential,
    exposure,
    exposure_of,
    exposures,
    logged,
    match,
    sign,
    texts,
    written,
)

SECRET_WORDS = ("PREVIEW-TEXT", "EVIDENCE-TEXT")


def letter(seen, tenant: str | None = None) -> str:
    return written(seen, ScanFormat.MARKDOWN, letter_for=tenant)


def kinds(text: str) -> list[str]:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    return [token.type for token in tokens] + [child.type for token in tokens for child in token.children or ()]


def full(**changes):
    return exposure(
        **{
            "matches": (
                match("r1", "s1", preview=SECRET_WORDS[0]),
                match("r2", "s1", candidates=2, preview=SECRET_WORDS[0]),
                match("r3", "s3", across_tenants=False, preview=SECRET_WORDS[0]),
            ),
            "signs": (sign("language", evidence=SECRET_WORDS[1]),),
            "credentials": (credential(owner="s1 Ltd", in_foreign_answer=True), credential(owner="r9 Ltd")),
        }
        | changes
    )


def test_the_letter_to_a_regulator_counts_and_names_nobody():
    """Customers, requests, files and texts are in no line of it."""
    text = letter(full())
    for figure in ("| answers with text of another request | 3 |", "| of these, with text of another customer | 2 |"):
        assert figure in text
    assert "| customers whose text it was | 1 |" in text
    assert "| customers who were given it | 2 |" in text
    assert "| stretches for which it is not certain whose they are | 1 |" in text
    assert "The first such answer is of 2026-08-28 10:00 UTC" in text
    for name in ("Ltd", "r1", "s1", "r3", "0f0f", *SECRET_WORDS):
        assert name not in text


def test_the_letter_to_a_tenant_is_of_that_tenant_alone():
    """Its requests, its secrets; that there were others, and not who."""
    text = letter(full(), "s1 Ltd")
    assert "concerns s1 Ltd" in text
    assert "2 answers to somebody else, or to another request, had text of yours." in text
    assert "| s1 | 2026-08-28 09:12:00 | your prompt | 412 |" in text
    assert "or one of 1 other requests" in text
    assert "1 secret of yours should be revoked" in text
    for name in ("r1", "r2", "r3", "r9", "s3", *SECRET_WORDS):
        assert name not in text


def test_who_was_given_text_of_others_is_asked_to_delete_it():
    """By the requests of its own."""
    text = letter(full(), "r2 Ltd")
    assert "1 answer to you had text of others. We ask you to delete" in text
    assert "| r2 | 2026-08-28 10:00:00 | 7 | 412 |" in text
    assert "s1" not in text


def test_a_name_that_no_finding_has_is_not_told_that_all_is_well():
    """It may be a name that the logs do not have at all."""
    text = letter(full(), "r2 ltd")
    assert "Whether the logs know that name was not looked at" in text


def test_a_letter_says_what_could_not_be_seen_and_how_it_is_checked():
    """Both letters end so, with the digest of the whole."""
    for tenant in (None, "s1 Ltd"):
        text = letter(replace(exposure_of("x"), matches=(), credentials=()), tenant)
        for said in (
            "cut by the store",
            "encrypted",
            "without a text in the log",
            "5 lines or files could not be read",
        ):
            assert said in text
        assert "No answer was found that carries text" in text
        assert "SHA-256" in text
        assert "To be filled in" in text


@pytest.mark.parametrize("tenant", [False, True])
@pytest.mark.parametrize("text", [*HOSTILE, *FORMULAS, "a | b", "[x](http://evil.example)", "# head", "1. one", "---"])
def test_no_text_becomes_markup(text, tenant):
    """For a reader of Markdown the page has our headings, tables and lists, and no element, link or picture."""
    mine = kinds(letter(exposure_of(text), text if tenant else None))
    harmless = kinds(letter(exposure_of("x"), "x" if tenant else None))
    assert not {"html_block", "html_inline", "link_open", "image", "code_block", "fence", "code_inline"} & set(mine)
    for kind in ("heading_open", "table_open", "tr_open", "td_open", "bullet_list_open", "list_item_open"):
        assert mine.count(kind) == harmless.count(kind)


@settings(max_examples=40, deadline=None)
@given(exposures, st.none() | texts)
def test_any_scan_makes_a_letter(seen, tenant):
    """The same for whatever Hypothesis thinks of."""
    made = letter(seen, tenant)
    assert all(char == "\n" or char.isprintable() for char in made)
    assert kinds(made).count("html_inline") == 0


def test_an_answer_to_oneself_is_ones_own_text():
    """Where both requests are one tenant's, it is told once, as its own."""
    own = match("r1", "s1", across_tenants=False, response=logged("r1", tenant="s1 Ltd"))
    text = letter(exposure(matches=(own,)), "s1 Ltd")
    assert "had text of yours" in text
    assert "had text of others" not in text
