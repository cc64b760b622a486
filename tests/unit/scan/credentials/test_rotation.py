"""Each value once; who had it, who saw it, and whether it counts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kvfence.scan.credentials.rotation import rotation
from kvfence.scan.credentials.secret_pass import SECRETS


def row(offset, **changes):
    return {
        "source": 0,
        "offset": offset,
        "id": f"r{offset}",
        "tenant": "acme",
        "began_ms": 1000 + offset,
        "exposed": True,
        "in_prompt": True,
        "in_own_prompt": True,
        "at": 3,
        "length": 20,
        "kind": "aws-access-key-id",
        "fingerprint": b"\x01" * 32,
        "redacted": "AKIA…",
    } | changes


ANSWER = {"in_prompt": False, "in_own_prompt": False, "tenant": "globex"}


def rotated(*rows):
    return rotation([pa.RecordBatch.from_pylist(list(rows), schema=SECRETS)])


def test_a_value_is_listed_once_with_all_its_requests():
    """In the order of the logs, each request once; the first tenant who sent it owns it."""
    other_value = {"fingerprint": b"\x02" * 32, "kind": "jwt", "redacted": "eyJ…"}
    one, other = rotated(row(1), row(1, at=90), row(2, **other_value), row(5, tenant="globex"))
    assert (one.requests, one.first_ms, one.last_ms, one.owner) == (("r1", "r5"), 1001, 1005, "acme")
    assert (one.fingerprint, one.in_foreign_answer) == ("01" * 32, False)
    assert (other.kind, other.redacted, other.requests) == ("jwt", "eyJ…", ("r2",))


@pytest.mark.parametrize(
    ("answer", "is_foreign"),
    [
        ({}, True),
        ({"in_own_prompt": True}, False),
        ({"tenant": "acme"}, False),
        ({"tenant": None}, False),
        ({"began_ms": 500}, False),
        ({"began_ms": None}, True),
    ],
)
def test_an_answer_to_somebody_else_is_told(answer, is_foreign):
    """It was not in its own prompt, and another tenant had it before."""
    (one,) = rotated(row(1), row(2, **(ANSWER | answer)))
    assert (one.in_foreign_answer, one.owner) == (is_foreign, "acme")


def test_what_a_tenant_sent_before_is_no_news_to_it():
    """Two tenants may share a value; one that got it from an answer, and sends it back later, did not have it."""
    sent = row(2, tenant="globex", began_ms=1500)
    assert [one.in_foreign_answer for one in rotated(row(1), sent, row(3, **(ANSWER | {"began_ms": 1600})))] == [False]
    assert [one.in_foreign_answer for one in rotated(row(1), sent, row(3, **(ANSWER | {"began_ms": 1400})))] == [True]


def test_the_source_of_a_foreign_answer_may_be_an_answer():
    """What a model said to one tenant is that tenant's text as well; nobody is known to own it."""
    (one,) = rotated(row(1, **(ANSWER | {"tenant": "acme"})), row(2, **ANSWER))
    assert (one.in_foreign_answer, one.owner) == (True, None)


def test_what_is_outside_the_window_counts_only_where_somebody_else_saw_it():
    """The rest of its requests is not listed."""
    assert rotated(row(1, exposed=False)) == ()
    (one,) = rotated(row(1, exposed=False), row(2, exposed=False, **ANSWER))
    assert (one.requests, one.in_foreign_answer, one.owner) == (("r2",), True, "acme")


def test_many_rows_of_one_value_are_one(tmp_path):
    """A hundred thousand rows in many batches."""
    batches = (
        pa.RecordBatch.from_pylist([row(at, tenant=f"t{at % 7}") for at in range(start, start + 1000)], schema=SECRETS)
        for start in range(0, 100_000, 1000)
    )
    (one,) = rotation(batches, spill=str(tmp_path / "spill"))
    assert (len(one.requests), one.owner, one.last_ms) == (100_000, "t0", 100_999)


def test_no_row_is_nothing():
    """And no error."""
    assert rotation([]) == ()
