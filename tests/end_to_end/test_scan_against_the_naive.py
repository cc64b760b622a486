"""On small made-up traffic the scan says what brute force says: whose text stands in which answer."""

import json

import pytest

from support.naive_foreign import foreign
from support.programs import run_kvfence
from support.scan_corpus.judging import judged
from support.scan_corpus.plan import Kind, Plan
from support.scan_corpus.reading_back import exchanges, said
from support.scan_corpus.writing import write

SETTLED = {Kind.LEAK, Kind.RARE_DOCUMENT, Kind.OWN_PROMPT, Kind.EARLIER_REQUEST, Kind.RESENT}
"""Where brute force needs to know nothing of how alike two questions are, or of what many say."""


@pytest.mark.parametrize("seed", [11, 12])
def test_the_scan_finds_what_brute_force_finds(tmp_path, seed):
    """The same pairs of an answer and a tenant, and each planted run of 64 bytes among them."""
    plan = Plan(seed=seed, size_bytes=600_000, tenants=20, leaks=0.5, public_bytes=1 << 20, prompt_bytes=700)
    corpus = write(plan, tmp_path)
    ran = run_kvfence("scan", *map(str, corpus.logs), "--format", "json")
    assert ran.code == 1, ran.err
    known, matches = list(corpus.known()), json.loads(ran.out)["matches"]
    assert judged(known, matches).missed == []
    unsettled = {one.response_id for one in known if one.kind not in SETTLED}
    pairs = {(match["response_id"], match["source"]["tenant"]) for match in matches}
    naive = foreign(said(exchanges(corpus)[0]), most=2)
    assert {pair for pair in pairs if pair[0] not in unsettled} == {pair for pair in naive if pair[0] not in unsettled}
