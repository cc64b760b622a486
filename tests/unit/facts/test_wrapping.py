"""What stands around a line."""

from __future__ import annotations

import json

import pytest

from kvfence.facts.wrapping import Source, Unwrapped, is_partial, unwrap


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            b'2026-12-01T10:00:00Z stdout F {"time":"t","pod":"llm-0","message":"a \\"b\\""}',
            Unwrapped('a "b"', Source("llm-0", "llm-0")),
        ),
        (b"2026-12-01T10:00:00Z prefill-1  | a", Unwrapped("a", Source("prefill-1", "prefill-1"))),
        (b"[pod/llm-0/server] prefill-1 | a", Unwrapped("a", Source("llm-0", "llm-0/server"))),
        (b"a | b", Unwrapped("b", Source("a", "a"))),
        (b"[2026-12-01 10:00:00 TP0] a: b", Unwrapped("[2026-12-01 10:00:00 TP0] a: b", None)),
        (b'{"log": 1}', Unwrapped('{"log": 1}', None)),
        (b'{"log"', Unwrapped('{"log"', None)),
    ],
)
def test_wrappings_stack_and_the_outermost_names_the_node(line: bytes, expected: Unwrapped):
    """Layers come off from the outside in; what is none stays as it is."""
    assert unwrap((line,)) == expected


def test_pieces_are_put_together_by_their_marks():
    """A piece is partial if its runtime says so, and its text joins the next one's."""
    pieces = (b"2026-12-01T10:00:00Z stdout P abc", b"2026-12-01T10:00:00Z stdout F def")
    assert [is_partial(piece) for piece in pieces] == [True, False]
    assert unwrap(pieces).text == "abcdef"
    full = b"a" * 16_384
    log = (b'{"log":"' + full + b'","stream":"stdout"}', b'{"log":"def\\n","stream":"stdout"}')
    assert [is_partial(piece) for piece in log] == [True, False]
    assert unwrap(log).text == full.decode() + "def"


def test_a_collectors_entry_without_a_newline_is_whole():
    """What looks like docker's entry and is shorter than docker's buffer is not continued by the next one."""
    assert not is_partial(b'{"log":"abc","stream":"stdout"}')


def test_a_collector_that_keeps_the_runtimes_mark_has_its_pieces_put_together():
    """Fluent Bit's `logtag` says of each entry whether the next one continues it."""
    pieces = (b'{"log":"abc","logtag":"P"}', b'{"log":"def","logtag":"F"}')
    assert [is_partial(piece) for piece in pieces] == [True, False]
    assert unwrap(pieces).text == "abcdef"


def test_a_message_of_bytes_is_text():
    """Journald gives a message with colours in it as a list of bytes; the colours come off."""
    entry = json.dumps({"MESSAGE": list("\x1b[32mKV é\x1b[0m".encode()), "_HOSTNAME": "h"})
    assert unwrap((entry.encode(),)) == Unwrapped("KV é", Source("h", "h"))


@pytest.mark.parametrize(
    "text", ['{"log": [1, 2]}', '{"MESSAGE": [999]}', "{}", "[1]", "{" * 100_000, '{"a": {"b": 1}}']
)
def test_json_without_a_message_stays_as_it_is(text: str):
    """What has no field that is known as a message is not taken apart."""
    assert unwrap((text.encode(),)) == Unwrapped(text, None)
