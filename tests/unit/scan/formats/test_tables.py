"""The same export as a table: Langfuse writes Parquet unless told otherwise, with usage as a map."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kvfence.scan.reading.exchanges import exchanges_of
from kvfence.scan.reading.inputs import sources_of

OBSERVATIONS = Path(__file__).parents[3] / "corpus" / "scan" / "langfuse" / "observations.jsonl"


def test_langfuse_parquet_says_what_its_json_says(tmp_path):
    """Texts, times and counts are the same; only the places differ."""
    rows = [json.loads(line) for line in OBSERVATIONS.read_text(encoding="utf-8").splitlines()]
    names = [name for name in rows[0] if name not in {"cost_details", "tags"}]
    columns = {name: pa.array([row[name] for row in rows]) for name in names if name != "usage_details"}
    usage = pa.array([list(row["usage_details"].items()) for row in rows], pa.map_(pa.string(), pa.int64()))
    pq.write_table(pa.table(columns | {"usage_details": usage}), tmp_path / "observations.parquet")
    [by_rows], [by_lines] = sources_of([str(tmp_path / "observations.parquet")]), sources_of([str(OBSERVATIONS)])
    said = [[(one.id, one.prompt, one.answer, one.began_ms, one.prompt_tokens) for one in exchanges_of(source)]
            for source in (by_rows, by_lines)]  # fmt: skip
    assert by_rows.format == "langfuse"
    assert said[0] == said[1]
    assert len(said[0]) == 4
