"""Whatever a log holds, reading it ends, and ends in facts or in nothing."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.facts.fact import FACT_NAMES
from kvfence.facts.read_log import read_log, understood
from kvfence.facts.wrapping import unwrap
from support.audit_logs import CELL_START, INCIDENT, LOGS, WRAPPINGS, body

SAYING = [
    line
    for log in [*LOGS, *sorted(INCIDENT.glob("*.log"))]
    for line in body(log).decode("utf-8", "replace").splitlines()
    if understood(unwrap((line.encode(),)).text)
]
SAYING += [
    CELL_START.format(role="decode", rules="fenced", pool=1, checks="I1"),
    '{"log":"server_args=","stream":"stdout"}',
]
SPLICE = st.sampled_from(
    ["", "9" * 5000, "²", "٣", ",", "'", '"', "{", "}", "(", "\x1b[31m", "\0", "\r", "=", "-1", "None", "P ", " | "]
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A line that says something, with something else in it."""
    line = draw(st.sampled_from(SAYING))
    start = draw(st.integers(0, len(line)))
    end = draw(st.integers(start, min(len(line), start + 20)))
    return draw(st.sampled_from(WRAPPINGS)).wrap(line[:start] + draw(SPLICE) + line[end:])


@settings(max_examples=400, deadline=None)
@given(st.lists(damaged(), max_size=4))
def test_a_damaged_line_stops_nothing(lines: list[str]):
    """Lines with anything spliced in are read without an error, and all facts have names that are reported."""
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    for node in read_log(io.BytesIO(text), file="f", fallback_name="n").nodes:
        assert set(node.facts) <= set(FACT_NAMES)
        assert all(fact.seen.line >= 1 and len(fact.seen.text) < 400 for fact in node.facts.values())


@given(st.binary(max_size=300))
def test_any_bytes_are_read(content: bytes):
    """Bytes of any kind give no error."""
    read_log(io.BytesIO(b"server_args= " + content + b"\nserver_args={" + content), file="f", fallback_name="n")
