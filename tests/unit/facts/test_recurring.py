"""A line that comes again is recognised as bytes, and says what it says when it is read in full."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kvfence.facts import read_log, recurring, scan, starts
from kvfence.facts.fact import Happening, Kind
from kvfence.facts.logs import sglang_lines, vllm_lines
from kvfence.facts.logs.statement import Message, Statement
from kvfence.facts.reading import Reading
from kvfence.facts.recurring import Recurring
from support.audit_logs import HEADLINE, UNIFIED, WRAPPINGS, Wrapping

SGLANG = "[2026-12-01 13:18:{second:02}{rank}] "
VLLM = "(EngineCore_DP0 pid=9) INFO 12-01 13:18:{second:02} [scheduler.py:1] "
EVENTS = (
    SGLANG + "Input length ({asked} tokens) exceeds the maximum allowed length ({limit} tokens). "
    "Use a shorter input or enable --allow-auto-truncate., self.rid='{id}'",
    SGLANG + "[http_server] Input length ({asked} tokens) exceeds the maximum allowed length ({limit} tokens).",
    SGLANG + "Request {id} exceeds the maximum number of tokens: {asked} > {limit}",
    SGLANG + "Truncated. len(req.origin_input_ids)={asked}, max_req_input_len={limit}",
    SGLANG + "KV checksum mismatch req={id} bootstrap_room={asked} expected=0x{asked}e got=0xf{second}",
    SGLANG + "KV checksum skipped: no digest of chunk {limit}",
    SGLANG + "Context corruption detected: Request {id} has {limit}",
    SGLANG + "Request {id} requires too many SWA KV tokens for decode preallocation: {asked} > {limit}",
    SGLANG + "Request length is longer than the KV cache pool size or the max context length. Truncated!!!",
    SGLANG + "registered {limit} metadata buffers but this prefill has 9",
    SGLANG + "per-forward verify skipped this step due to overflow",
    SGLANG + "canary path is not executing: kernel_run_counter did not increase since previous",
    SGLANG + "kv_canary violation: slot {asked}",
    SGLANG + "Metadata unexpectedly not ready after readiness gate: request {id}",
    SGLANG + "Deferred KV release for room {asked} timed out after {second}s; 0x{asked}",
    SGLANG + "Prefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0, #running-req: {limit}, #inflight-req: 1,",
    VLLM
    + "Releasing expired KV blocks for request {id} which were retrieved by 0 decode worker(s) within 480 seconds.",
    VLLM + "Input prompt ({asked} tokens) is too long and exceeds limit of {limit}",
    VLLM + "Potentially invalid KV blocks for unrecognized request {id} were retrieved",
    "kvfence cell refused: worker=p-0 prompt_tokens={asked} request={id}",
)
OTHERS = (
    HEADLINE.format(rank=" TP0", pool=681280, context=1048576),
    HEADLINE.format(rank="", pool=64, context=512),
    UNIFIED,
    "noise",
    "",
    '[2026-12-01 13:18:55] INFO:     10.0.0.1:5 - "POST /generate HTTP/1.1" 200 OK',
)
IDS = st.one_of(
    st.sampled_from(
        ["a", "8f07dfc0-1b", "a:b", "launch_server", "sglang.launch_server", "vllm", "install_canary:", "é", "x" * 80]
    ),
    st.from_regex(r"[\w.:-]{1,82}", fullmatch=True),
)
ASKED = st.one_of(
    st.integers(0, 10**16).map(str), st.sampled_from(["0", "007", "1" * 15, "1" * 16, "5.5", "-3", "12x", "1,000"])
)
KINDS = st.tuples(
    st.sampled_from(EVENTS), st.sampled_from(["", " TP0", " TP1", " DP0 TP0"]), st.sampled_from([122, 681274, 1])
)
"""Lines of one kind can be of one form: nothing in them differs but clock, length and request."""


WRAPPED = [
    *(wrapping.wrap for wrapping in WRAPPINGS),
    str,
    "[pod/sglang-prefill-1/server] 2026-12-01T10:00:00.5Z {}".format,
    "Dec 01 10:00:00 gpu-nœud-7 python3[4973]: {}".format,
    "10:00:00  | {}".format,
    '{{"pod":"10:00:00","log":"{}"}}'.format,
]
Wrap = Callable[[str], str]


@st.composite
def mutated(draw: st.DrawFn, line: str) -> str:
    """The same line, with one character put in, left out or replaced."""
    at = draw(st.integers(0, len(line)))
    return line[:at] + draw(st.text("0 9a.:-'|{[é\r", max_size=2)) + line[at + draw(st.integers(0, 2)) :]


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """A log in which a few kinds of lines come again and again from a few printers, and others between them."""
    kinds = draw(st.lists(KINDS, min_size=1, max_size=3))
    wraps = draw(st.lists(st.sampled_from(WRAPPED), min_size=1, max_size=2))
    filled = st.builds(
        lambda kind, second, asked, name: kind[0].format(
            rank=kind[1], limit=kind[2], second=second, asked=asked, id=name
        ),
        st.sampled_from(kinds),
        st.integers(0, 99),
        ASKED,
        IDS,
    )
    one = st.one_of(filled, filled, filled, filled, filled.flatmap(mutated), st.sampled_from(OTHERS))
    lines = draw(st.lists(st.builds(lambda wrap, line: wrap(line), st.sampled_from(wraps), one), max_size=60))
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return (end.join(lines) + draw(st.sampled_from([end, end, ""]))).encode()


def read(*parts: bytes) -> Reading:
    """What is read of a log in these parts."""
    return read_log.read_parts([(f"f{n}", io.BytesIO(part)) for n, part in enumerate(parts)], "n")


def both(*parts: bytes) -> tuple[Reading, Reading]:
    """What is read with forms, made as early as can be, and what without any."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scan, "BLOCK_BYTES", 700)
        patched.setattr(starts, "_REQUESTS_MAX", 2)
        patched.setattr(starts, "_EVIDENCE_MAX", 1)
        patched.setattr(recurring, "_OFTEN", 1)
        fast = read(*parts)
        patched.setattr(recurring, "_OFTEN", 0)
        return fast, read(*parts)


def refused(asked: int | str = 9, name: str = "a", limit: int = 5, second: int = 1, rank: str = "") -> str:
    """A refusal."""
    return EVENTS[0].format(second=second, rank=rank, asked=asked, limit=limit, id=name)


def text(*lines: str) -> bytes:
    """A log of these lines."""
    return "".join(f"{line}\n" for line in lines).encode()


PLACEHOLDER = next(event for event in EVENTS if "Prefill batch" in event).format(second=2, rank="", limit=0)
SOME = [refused(name=name) for name in "abcdefghi"]
SHORT = [*SOME, *(refused(name=name, limit=4) for name in "abc"), *SOME]


@settings(deadline=None, max_examples=300)
@given(logs())
@example(text(*SOME, refused("1" * 16), refused("1" * 15), refused("1" * 17)))
@example(text(*SOME, refused(name="x" * 80), refused(name="x" * 81), refused(name="a:b")))
@example(text(*SOME, *["noise"] * 38, PLACEHOLDER, PLACEHOLDER, *SOME, PLACEHOLDER))
@example(text(*SOME, *["noise"] * 40, PLACEHOLDER))
@example(text(*SHORT, *[refused(limit=limit) for limit in range(10, 90)], *SHORT))
@example(text(*SOME, OTHERS[0], *SOME, OTHERS[1], *SOME))
@example(text(*SOME)[:-1])
@example(text(*SOME)[:-60])
def test_both_ways_of_reading_give_the_same(content: bytes):
    """Counts, lengths, places, requests and facts are those of reading every line in full, whatever stands between."""
    fast, full = both(content)
    assert fast == full


NUMBERS = st.one_of(
    st.sampled_from(["4", "0", "1", "cac", "4 ", "1e", "f" * 40, "9" * 41, "0x4", "a0", "x1", "", "7_", "é1"]),
    st.from_regex(r"[0-9a-f]{1,41}", fullmatch=True),
)


@st.composite
def tails(draw: st.DrawFn) -> str:
    """What may stand behind a message: words, and parts of what another message begins with, around numbers."""
    stem = st.sampled_from([one.decode() for one in read_log.log_anchors().stems])
    part = st.builds(
        lambda text, start, end: text[start : max(end, start + 1)], stem, st.integers(0, 9), st.integers(2, 40)
    )
    word = st.one_of(st.sampled_from([" ", " room ", "=0x", " (", ", ", "'", " TP", "s "]), part, stem)
    return "".join(draw(st.lists(st.one_of(word, st.just("{}"), st.just(" {} ")), min_size=1, max_size=6)))


@st.composite
def numbered(draw: st.DrawFn) -> bytes:
    """A log of one message with one tail, in which only the numbers differ."""
    event, tail = draw(st.sampled_from(EVENTS)), draw(tails())
    head = event.format(second=1, rank="", asked=9, limit=5, id="a")
    fill = st.lists(NUMBERS, min_size=tail.count("{}"), max_size=tail.count("{}"))
    return text(*(head + tail.format(*draw(fill)) for _line in range(draw(st.integers(4, 12)))))


@settings(deadline=None, max_examples=150)
@given(numbered())
@example(
    text(*(f"kvfence cell refused: worker=p-0 prompt_tokens=9 request=a {n} pool sizes: full=7" for n in "1234567"))
)
@example(
    text(*(f"kvfence cell refused: worker=p-0 prompt_tokens=9 request=a DSV{n} pool sizes: full=7" for n in "12347"))
)
@example(text(*(f"{refused()} cache is allo{n} is allocated. #tokens: 9" for n in ["1", "2", "3", "cac"])))
def test_numbers_behind_a_message_change_nothing_of_it(content: bytes):
    """Whatever stands there, as near as can be to another message: both ways of reading give the same."""
    fast, full = both(content)
    assert fast == full


@settings(deadline=None, max_examples=50)
@given(logs(), logs())
def test_both_ways_give_the_same_over_parts_of_a_log(older: bytes, newer: bytes):
    """A form that was made in a rotated part serves in the next one."""
    fast, full = both(older, newer)
    assert fast == full


@pytest.mark.parametrize("message", [*sglang_lines.EVENTS, *vllm_lines.EVENTS], ids=lambda message: message.stem)
def test_every_event_stands_in_the_logs_above(message: Message):
    """What can recur is drawn above, so that a new kind of event is held against full reading as well."""
    filled = [event.format(rank="", limit=1, second=1, asked=1, id="a") for event in EVENTS]
    assert any(message.found_in(line) for line in filled)


def happening(content: bytes) -> Happening:
    """The one refusal of one node in it."""
    (node,) = read(content).nodes
    return node.happenings[Kind.REFUSED]


def test_twenty_thousand_refusals_are_each_counted():
    """Count, longest prompt, first and last place and the first requests, over many blocks and two ranks in turn."""
    total = 20_000
    lines = [refused(700_000 + n, f"r{n}", 9, n // 2 % 60, f" TP{n % 2}") for n in range(total)]
    seen = happening(text(*lines))
    # Both ranks print every refusal.
    assert (seen.count, seen.asked_tokens_max) == (total // 2, 700_000 + total - 1)
    assert [place.line for place in seen.seen] == [1, 2, 3, 4, total]
    assert seen.seen[-1].text.endswith(f"self.rid='r{total - 1}'")
    assert seen.requests == tuple(f"r{number}" for number in range(20))


@contextmanager
def readings() -> Iterator[list[str]]:
    """The lines that reach the readers meanwhile."""
    lines: list[str] = []
    full = read_log.understood

    def noting(line: str) -> Statement | None:
        lines.append(line)
        return full(line)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(read_log, "understood", noting)
        yield lines


def read_in_full(lines: Sequence[str]) -> int:
    """How many lines of a log reach the readers."""
    with readings() as whole:
        assert happening(text(*lines)).count == len(lines)
    return len(whole)


@pytest.mark.parametrize("wrapping", [one for one in WRAPPINGS if one.name != "colour"], ids=lambda one: one.name)
def test_nearly_none_of_many_refusals_is_read_in_full(wrapping: Wrapping):
    """Of two thousand lines that differ in clock, length and request, a handful reaches the readers."""
    lines = [wrapping.wrap(refused(9 * n + 10, f"{n:08x}", 9, n % 60)) for n in range(2000)]
    assert read_in_full(lines) < 60


@pytest.mark.parametrize(
    "line",
    [
        "Deferred KV release for room {n} timed out after 30s",
        "KV checksum mismatch req={n} bootstrap_room={n} expected=0x{n:x} got={n:08x}",
        "KV checksum skipped: layout 0x{n:x} differs from 0x{n:x} (TP width)",
        "Context corruption detected: Request {n} (bootstrap_room={n}) received metadata from room {n}",
    ],
)
def test_rooms_and_digests_make_no_line_another_one(line: str):
    """Of two thousand lines with numbers of their own, a handful reaches the readers."""
    lines = [SGLANG.format(second=n % 60, rank=" TP0") + line.format(n=70_000_000 + n * 7919) for n in range(2000)]
    with readings() as whole:
        (node,) = read(text(*lines)).nodes
    assert [one.count for one in node.happenings.values()] == [2000]
    assert len(whole) < 60


def test_lines_that_never_come_again_make_no_form(monkeypatch: pytest.MonkeyPatch):
    """A text that changes in every line: nothing is compiled for it, and what is remembered stays small."""
    kept = Recurring()
    monkeypatch.setattr(read_log, "Recurring", lambda _stems: kept)
    lines = [f"{refused(name=f'r{number}')} of g{number}" for number in range(2000)]
    assert read_in_full(lines) == 2000
    assert not kept.forms


def test_forms_are_bounded(monkeypatch: pytest.MonkeyPatch):
    """Hundreds of printers that each repeat themselves: the forms that are kept are not hundreds."""
    kept = Recurring()
    monkeypatch.setattr(read_log, "Recurring", lambda _stems: kept)
    line = EVENTS[3].format(second=1, rank="", asked=9, limit=8)
    nodes = read(text(*(f"pod-{n} | {line}" for n in range(200) for _ in range(30)))).nodes
    assert [node.happenings[Kind.TRUNCATED].count for node in nodes] == [30] * 200
    assert len(kept.forms) == 32
