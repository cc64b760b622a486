"""What stands around a line."""

from __future__ import annotations

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
    log = (b'{"log":"abc","stream":"stdout"}', b'{"log":"def\\n","stream":"stdout"}')
    assert [is_partial(piece) for piece in log] == [True, False]
    assert unwrap(log).text == "abcdef"
