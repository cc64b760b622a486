"""Marks of cuts, and a cut without a mark where the count of tokens tells it."""

from __future__ import annotations

import pytest

from kvfence.scan.exchange import Coverage
from kvfence.scan.formats.cuts import stands_for, with_count, with_cuts
from kvfence.scan.formats.format import ENCRYPTED, NOTHING, Said

IMAGE = {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]}
FILE = {"input": [{"content": [{"type": "input_file", "file_id": "f"}]}]}
TEXT = {"messages": [{"content": "text"}]}


@pytest.mark.parametrize(
    ("text", "coverage"),
    [
        ("a... (litellm_truncated skipped 12 chars. It is a safeguard.) ...b", Coverage.CUT),
        ("a... (litellm_truncated skipped 12 chars) ...b", Coverage.CUT),
        ("a... (truncated 900 chars)", Coverage.CUT),
        ("before <truncated due to size exceeding limit>", Coverage.CUT),
        ("<truncated due to size exceeding limit>", Coverage.OMITTED),
        ('["<truncated due to size exceeding limit>"]', Coverage.OMITTED),
        (" redacted-by-litellm\n", Coverage.OMITTED),
        ("it was truncated, I think", Coverage.WHOLE),
        ("I say redacted-by-litellm in a sentence", Coverage.WHOLE),
    ],
)
def test_a_mark_of_a_store_is_known(text, coverage):
    """Words about a cut are none."""
    assert with_cuts(Said(text)).coverage is coverage


@pytest.mark.parametrize(
    ("text", "tokens", "body", "coverage"),
    [
        ("x" * 100, 1100, TEXT, Coverage.WHOLE),
        ("x" * 100, 1101, TEXT, Coverage.CUT),
        ("字" * 100, 1101, TEXT, Coverage.WHOLE),
        ("字" * 100, 1301, TEXT, Coverage.CUT),
        ("x" * 100, 700_000, IMAGE, Coverage.WHOLE),
        ("x" * 100, 700_000, FILE, Coverage.WHOLE),
        ("x" * 100, None, TEXT, Coverage.WHOLE),
        ("x" * 100, 1, TEXT, Coverage.WHOLE),
    ],
)
def test_more_tokens_than_bytes_is_a_cut(text, tokens, body, coverage):
    """A token has a byte at least; what a server adds is allowed for, and files have tokens without text."""
    assert with_count(Said(text), tokens, body).coverage is coverage


def test_what_stands_for_a_body_is_none():
    """A note or an encrypted object, not a body that happens to have a field of that name."""
    assert stands_for({"type": "encrypted", "data": "AA=="}) is ENCRYPTED
    assert stands_for({"helicone_message": "request body too large"}) is NOTHING
    assert stands_for({"helicone_message": "x", "messages": []}) is None
    assert stands_for("text") is None
