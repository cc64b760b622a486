"""What the user names becomes exchanges, however it is stored and packed; and each is found again by its place."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kvfence.errors import TargetError, UsageError
from kvfence.scan.batches import exchanges_of as of_batch
from kvfence.scan.exchange import Exchange, Unread
from kvfence.scan.reading.exchanges import batches_of, exchange_at, exchanges_at, exchanges_of
from kvfence.scan.reading.inputs import sources_of
from kvfence.scan.reading.parts import splits_of

RECORDS = [
    {
        "id": f"r{number}",
        "created": 1_760_000_000 + number,
        "user": f"t{number % 2}",
        "model": "m",
        "status": 200,
        "request": json.dumps({"messages": [{"role": "user", "content": f"question {number}\nsecond line, ü"}]}),
        "response": json.dumps({"choices": [{"message": {"content": f"answer {number}"}}]}),
    }
    for number in range(5)
]
JSONL = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()


def as_csv() -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(RECORDS[0]))
    writer.writeheader()
    writer.writerows(RECORDS)
    return text.getvalue().encode()


def as_parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), file, row_group_size=2)
    return file.getvalue()


STORED = {
    "plain.jsonl": JSONL,
    "blank-lines.jsonl": JSONL.replace(b"\n", b"\n\n"),
    "crlf-and-mark.jsonl": b"\xef\xbb\xbf" + JSONL.replace(b"\n", b"\r\n"),
    "no-end.jsonl": JSONL.rstrip(),
    "array.json": json.dumps(RECORDS).encode(),
    "pretty.json": json.dumps(RECORDS, indent=2).encode(),
    "one-after-another.json": b"\n".join(json.dumps(record, indent=1).encode() for record in RECORDS),
    "saved-answer.json": json.dumps({"data": RECORDS, "meta": {"page": 1}}).encode(),
    "array-in-a-line.jsonl": json.dumps(RECORDS[:3]).encode() + b"\n" + json.dumps(RECORDS[3:]).encode(),
    "table.csv": as_csv(),
    "semicolons.csv": as_csv().replace(b"id,created,user,model,status,", b"id,created,user,model,status,"),
    "table.parquet": as_parquet(),
    "nameless": JSONL,
    "a.gz": gzip.compress(JSONL),
    "a.zst": zstandard.compress(JSONL),
    "a.xz": lzma.compress(JSONL),
    "a.bz2": bz2.compress(JSONL),
    "table.csv.gz": gzip.compress(as_csv()),
}


def written(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def source_of(folder, name, content):
    return sources_of([written(folder, name, content)])[0]


@pytest.mark.parametrize("name", STORED)
def test_the_same_exchanges_come_out_of_every_kind_of_file(tmp_path, name):
    """Lines, arrays, saved answers, tables; packed or not: the texts, times and names are the same."""
    source = source_of(tmp_path, name, STORED[name])
    found = [*exchanges_of(source)]
    assert [(one.id, one.tenant, one.status, one.began_ms) for one in found] == [
        (f"r{number}", f"t{number % 2}", 200, (1_760_000_000 + number) * 1000) for number in range(5)
    ]
    assert [(one.prompt, one.answer) for one in found] == [
        (f"question {number}\nsecond line, ü", f"answer {number}") for number in range(5)
    ]
    assert len({one.place.offset for one in found}) == 5


@pytest.mark.parametrize("name", STORED)
def test_an_exchange_is_found_again_by_its_place(tmp_path, name):
    """Whether the file can be read at any place or not."""
    source = source_of(tmp_path, name, STORED[name])
    for one in exchanges_of(source):
        again = exchange_at(source, one.place.offset)
        assert (again.id, again.prompt, again.answer) == (one.id, one.prompt, one.answer)
    places = [one.place.offset for one in exchanges_of(source)][1::2]
    assert [one.id for one in exchanges_at(source, places)] == ["r1", "r3"]


def test_a_place_where_nothing_is_any_more_is_told(tmp_path):
    """A file that has changed since gives no other exchange for the one that was asked for."""
    source = source_of(tmp_path, "plain.jsonl", JSONL)
    with pytest.raises(LookupError, match="changed"):
        exchange_at(source, 7)


@given(st.integers(1, len(JSONL) + 10))
def test_parts_together_are_the_whole_wherever_they_are_cut(tmp_path_factory, part_bytes):
    """No line is lost, none is read twice, and each has the number that it has in the file."""
    source = source_of(tmp_path_factory.mktemp("parts"), "plain.jsonl", JSONL)
    whole = [*exchanges_of(source)]
    assert [one for part in splits_of(source, part_bytes=part_bytes) for one in exchanges_of(source, part)] == whole


def test_batches_end_where_their_text_is_enough(tmp_path):
    """A bound of one character gives a batch an exchange; the exchanges are the same."""
    source = source_of(tmp_path, "plain.jsonl", JSONL)
    small = [*batches_of(source, text_bytes=1)]
    assert [batch.num_rows for batch in small] == [1] * 5
    assert [one for batch in small for one in of_batch(batch)] == [*exchanges_of(source)]


def test_folders_and_globs_stand_for_their_files_once_and_in_order(tmp_path):
    """What is named twice is read once; hidden files are left out."""
    for name in ("b/2.jsonl", "b/1.jsonl", "a.jsonl", ".hidden.jsonl"):
        written(tmp_path, name, JSONL)
    found = sources_of([str(tmp_path / "b/2.jsonl"), str(tmp_path), str(tmp_path / "*.jsonl")])
    assert [source.target.removeprefix(f"{tmp_path}/") for source in found] == ["b/2.jsonl", "a.jsonl", "b/1.jsonl"]
    assert [source.number for source in found] == [0, 1, 2]


def test_a_name_that_stands_for_nothing_is_wrong_use(tmp_path):
    """A typing error ends the run before it begins; so does standard input, which cannot be read twice."""
    with pytest.raises(TargetError, match="no such file"):
        sources_of([str(tmp_path / "*.jsonl")])
    with pytest.raises(UsageError, match="twice"):
        sources_of(["-"])


def test_a_line_of_nothing_known_is_told_and_the_rest_read(tmp_path):
    """With its number, and without its text."""
    odd = b'{"something": "else"}\nnot json at all\n[1, 2]\n'
    found = [*exchanges_of(source_of(tmp_path, "mixed.jsonl", JSONL + odd + JSONL))]
    unread = [one for one in found if isinstance(one, Unread)]
    assert sum(isinstance(one, Exchange) for one in found) == 10
    assert [one.line for one in unread] == [6, 7, 8, 8]
    assert not any("else" in one.why or "at all" in one.why for one in unread)
