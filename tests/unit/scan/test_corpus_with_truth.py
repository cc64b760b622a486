"""The made-up traffic by which the scan is measured is what its truth says it is."""

from collections import Counter

import pytest

from support.naive_foreign import foreign
from support.scan_corpus.garbling import share
from support.scan_corpus.plan import Garbling, Kind, Plan
from support.scan_corpus.reading_back import exchanges, said
from support.scan_corpus.writing import lines, write

RUN_BYTES = 64
INNOCENT = {Kind.RARE_DOCUMENT, Kind.OWN_PROMPT, Kind.EARLIER_REQUEST, Kind.RETRY, Kind.RESENT}
"""What no reference may take for a leak; the other kinds are told from one only by how many tenants have them."""


def small(seed=7, **changes):
    settings = {"size_bytes": 1_500_000, "tenants": 20, "leaks": 0.5, "public_bytes": 1 << 20, "prompt_bytes": 700}
    return Plan(seed=seed, **(settings | changes))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return write(small(), tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def read(made):
    return exchanges(made)


def test_a_seed_gives_the_same_bytes_and_another_seed_others(made):
    """What was measured can be made again."""
    whole = made.logs[0].read_bytes()
    assert whole == b"".join(line for line, _ in lines(small()))
    assert whole[:20_000] != b"".join(line for line, _ in lines(small(seed=8, size_bytes=30_000)))[:20_000]


def test_it_is_cut_into_files_without_a_change(made, tmp_path):
    """A large corpus is several files with the same lines."""
    several = write(small(), tmp_path, file_bytes=300_000)
    assert len(several.logs) > 2
    assert b"".join(log.read_bytes() for log in several.logs) == made.logs[0].read_bytes()


def test_every_line_is_read_in_every_shape(made, read):
    """Chat, streams, Anthropic's, completions, calls of tools, escaped text; refused ones have no answer."""
    found, unread = read
    assert (len(found), unread) == (made.exchanges, [])
    assert {one.status for one in found} == {200, 400}
    assert all(bool(one.answer) == (one.status == 200) for one in found)


def test_a_leak_is_where_its_truth_says_and_nobody_else_has_it(made, read):
    """The longest piece is in the answer and in the source, and in no other tenant's text before it was leaked."""
    by_id = {one.id: one for one in read[0]}
    leaks = [known for known in made.known() if known.kind is Kind.LEAK]
    assert {known.garbling for known in leaks} == {*Garbling}
    for known in leaks:
        answered, source = by_id[known.response_id], by_id[known.source_id]
        assert (answered.tenant, source.tenant) == (known.tenant, known.source_tenant)
        held = source.prompt if known.source_part == "prompt" else source.answer
        assert share(answered.answer.encode(), held.encode(), known.run_bytes)
        if known.garbling is Garbling.VERBATIM:
            assert known.run_bytes == known.span_bytes >= 20


def test_the_naive_reference_finds_every_leak_and_no_innocent(made, read):
    """Every run of 64 bytes of another tenant, and none where the text is the tenant's own."""
    found = foreign(said(read[0]), most=2)
    known = list(made.known())
    must = {
        (one.response_id, one.source_tenant)
        for one in known
        if one.kind is Kind.LEAK and one.across_tenants and one.run_bytes >= RUN_BYTES
    }
    assert len(must) > 15
    assert must <= found
    leaked = {one.response_id for one in known if one.kind is Kind.LEAK}
    innocent = {one.response_id for one in known if one.kind in INNOCENT} - leaked
    told_by_number = {one.response_id for one in known if one.kind not in INNOCENT}
    assert {answer for answer, _ in found} & (innocent - told_by_number) == set()


def test_there_is_enough_of_each_kind(made):
    """Of what looks like a leak and is none, and of spans that are barely long enough."""
    known = list(made.known())
    seen = Counter(one.kind for one in known)
    assert min(seen[kind] for kind in Kind if kind is not Kind.RECITED) >= 1, "few tenants make nothing famous"
    assert sum(60 <= one.span_bytes <= 70 for one in known) >= 10
