"""Made-up traffic with truth: no long enough leak is missed, and nothing is told that is not there byte by byte."""

from __future__ import annotations

import pytest

from support.foreign_texts import searched
from support.naive_foreign import foreign
from support.scan_corpus.plan import Kind, Plan
from support.scan_corpus.reading_back import exchanges, said
from support.scan_corpus.writing import write

RUN_BYTES = 64


@pytest.fixture(scope="module", params=[31])
def made(request, tmp_path_factory):
    plan = Plan(seed=request.param, size_bytes=900_000, tenants=20, leaks=0.5, public_bytes=1 << 20, prompt_bytes=700)
    return write(plan, tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def matches(made, tmp_path_factory):
    return searched(tmp_path_factory.mktemp("work"), [str(log) for log in made.logs])


def test_every_leak_of_64_bytes_across_tenants_is_found_with_its_tenant(made, matches):
    """However it was garbled, if so much of it was left in one piece."""
    found = {(match.response.id, match.source.tenant) for match in matches}
    must = {
        (one.response_id, one.source_tenant)
        for one in made.known()
        if one.kind is Kind.LEAK and one.across_tenants and one.run_bytes >= RUN_BYTES
    }
    assert len(must) > 10
    assert must <= found


def test_every_match_is_one_for_brute_force_as_well(made, matches):
    """Which compares all windows of all texts, and knows no hashes."""
    read, _ = exchanges(made)
    assert {(match.response.id, match.source.tenant) for match in matches} <= foreign(
        said(read), most=len({one.tenant for one in read}), ends_after_s=1
    )


def test_each_stretch_stands_in_both(made, matches):
    """At the characters that the match names."""
    by_id = {one.id: one for one in exchanges(made)[0]}
    for match in matches:
        source = by_id[match.source.id]
        held = source.prompt if match.in_prompt else source.answer
        ours = by_id[match.response.id].answer[match.response_char :][: match.span_chars]
        assert ours == held[match.source_char :][: match.span_chars]
        assert ours not in by_id[match.response.id].prompt
        assert len(ours.encode()) >= RUN_BYTES
