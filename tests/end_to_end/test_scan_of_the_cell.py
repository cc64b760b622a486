"""Past traffic of the project's own cell: a scan finds what its taint oracle saw, and nothing under the fence."""

import json

from support.cell_traffic import ROUNDS, recorded
from support.programs import run_kvfence


def scanned(log):
    ran = run_kvfence("scan", str(log), "--format", "json")
    return ran, json.loads(ran.out)


def test_under_the_open_rule_each_foreign_answer_is_found_with_its_victim(tmp_path):
    """The pairs of answer and tenant are those of the oracle, neither more nor fewer."""
    traffic = recorded("placeholder", tmp_path)
    assert len(traffic.foreign) == traffic.counted == ROUNDS, "the open rule leaks in each round"
    ran, report = scanned(traffic.log)
    assert ran.code == 1
    assert {(match["response_id"], match["source"]["tenant"]) for match in report["matches"]} == traffic.foreign
    assert all(match["across_tenants"] for match in report["matches"])


def test_under_the_fence_nothing_is_found(tmp_path):
    """The same requests; those that do not fit are refused, and the others have answers of their own."""
    traffic = recorded("fenced", tmp_path)
    assert (traffic.foreign, traffic.counted) == (frozenset(), 0)
    _, report = scanned(traffic.log)
    assert report["requests"] == traffic.requests
    assert report["matches"] == []
    assert report["coverage"] == {"whole": traffic.requests, "cut": 0, "encrypted": 0, "omitted": 0}
