"""Logs that lie elsewhere: over HTTP, in S3, in Google's storage. The stores are stand-ins on loopback."""

from __future__ import annotations

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.object_store import object_store
from support.programs import assert_one_clear_line, run_kvfence

RECORDS = [
    {"id": f"r{number}", "user": "acme", "request": f"question {number}", "response": "a"} for number in range(3)
]
JSONL = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
SECRET = "s3cr3tOfAKey"


def parquet():
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), file)
    return file.getvalue()


OBJECTS = {
    "logs/a.jsonl": JSONL,
    "logs/a.jsonl.gz": gzip.compress(JSONL),
    "logs/cut.jsonl.gz": gzip.compress(JSONL * 50)[:-20],
    "logs/a.parquet": parquet(),
    "logs/long.jsonl": JSONL * 20_000,
}


def address(store, kind, name):
    """An address of an object, with what a store's client needs to ask the stand-in."""
    more = f"endpoint_override={store.replace(':', '%3A')}&scheme=http"
    return {
        "nobody": f"http://127.0.0.1:9/{name}",
        "http": f"http://{store}/logs/{name}?X-Signature={SECRET}",
        "s3": f"s3://key:{SECRET}@logs/{name}?{more}&region=us-east-1",
        "gs": f"gs://anonymous@logs/{name}?{more}&retry_limit_seconds=5",
    }[kind]


GOOD = [
    ("http", "a.jsonl"),
    ("http", "a.jsonl.gz"),
    ("http", "moved.jsonl"),
    ("s3", "a.jsonl"),
    ("s3", "a.jsonl.gz"),
    ("s3", "a.parquet"),
    ("gs", "a.jsonl"),
    ("gs", "a.parquet"),
]
BAD = {
    ("http", "not-there.jsonl"): "answers 404",
    ("nobody", "a.jsonl"): "nothing listens there",
    ("s3", "not-there.jsonl"): "AWS_ACCESS_KEY_ID",
    ("gs", "not-there.jsonl"): "GOOGLE_APPLICATION_CREDENTIALS",
    ("http", "cut.jsonl.gz"): "in the middle of its gzip stream",
    ("http", "a.parquet"): "cannot be read in pieces",
    ("http", "long.jsonl"): "broke off",
}
"""What the line about it says."""


@pytest.fixture(scope="module")
def scanned():
    """All of them in one scan of the real program: what ran, its report, and where the stand-in was."""
    with object_store(OBJECTS, moved="logs/moved.jsonl", broken="logs/long.jsonl") as store:
        ran = run_kvfence("scan", *(address(store, *one) for one in [*GOOD, *BAD]), "--format", "json", timeout=115)
    return ran, json.loads(ran.out)


def test_a_log_elsewhere_is_read_as_one_here_is(scanned):
    """Plain, packed, behind a redirect, in columns: nothing is missing; of the broken ones what came is there."""
    report = scanned[1]
    of_good, of_cut, of_broken = 3 * len(GOOD), (75, 150), (10_000, 40_000)
    assert of_good + of_cut[0] + of_broken[0] < report["requests"] < of_good + of_cut[1] + of_broken[1]
    assert len(report["not_read"]) == len(BAD)


@pytest.mark.parametrize("which", BAD, ids=" ".join)
def test_what_cannot_be_had_is_one_clear_line(scanned, which):
    """Nobody there, no such object, a stream that breaks off: each says so, and the rest is scanned."""
    ran, report = scanned
    kind, name = which
    found = [
        one["why"]
        for one in report["not_read"]
        if f"/{name}" in one["file"] and one["file"].startswith("http" if kind == "nobody" else kind)
    ]
    assert ran.code == 3
    assert [why for why in found if BAD[which] in why and "\n" not in why]


def test_no_key_and_no_signature_of_an_address_is_shown(scanned):
    """Addresses are shown without password and without what their query says."""
    ran = scanned[0]
    assert "Traceback" not in ran.err
    assert SECRET not in ran.out + ran.err


@pytest.mark.parametrize("target", ["ftp://host/a.jsonl", "abfs://container@account/a.jsonl", "file:///a.jsonl"])
def test_an_address_of_another_kind_is_one_clear_line(target):
    """It says which are read."""
    assert_one_clear_line(run_kvfence("scan", target), target.partition(":")[0], "s3://", "download it")
