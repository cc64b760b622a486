"""JSON is cut into its values wherever the pieces of the stream end."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from kvfence.scan.reading import json_values
from kvfence.scan.reading.json_values import json_values_of

leaves = st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\{}[]\n,ü'), max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
objects = st.lists(st.dictionaries(st.text(max_size=3), values, max_size=3), min_size=1, max_size=4)


@given(objects, st.integers(1, 40), st.booleans(), st.sampled_from([None, 1]))
def test_the_objects_of_a_stream_come_out_as_they_went_in(some, piece_bytes, is_array, indent):
    """Brackets and quotes in strings cut nothing; each object's offset and line are where it begins."""
    text = json.dumps(some, indent=indent) if is_array else "\n".join(json.dumps(one, indent=indent) for one in some)
    raw = text.encode()
    was, json_values._PIECE_BYTES = json_values._PIECE_BYTES, piece_bytes
    try:
        found = [*json_values_of(io.BytesIO(raw))]
    finally:
        json_values._PIECE_BYTES = was
    assert [json.loads(one.content) for one in found] == some
    for one in found:
        assert raw[one.offset : one.offset + len(one.content)] == one.content
        assert one.line == 1 + raw.count(b"\n", 0, one.offset)
