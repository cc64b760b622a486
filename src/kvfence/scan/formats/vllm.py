"""vLLM: the lines of a server with --enable-log-requests and --enable-log-outputs.

Lines: vllm/entrypoints/logger.py of vllm-project/vllm. Up to about 0.10 `Received request ID: prompt: REPR, params: …`;
since then the prompt is in `Request ID details: prompt: REPR, …`, at level DEBUG alone. Answers: `Generated response
ID: output: REPR, … finish_reason: …`, of a stream one line a piece and one for all. `--max-log-len` shortens both
without a mark; it is told only where a prompt has as many tokens as characters, since both are cut to the same number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from kvfence.scan.exchange import Coverage, Exchange, Place, Unread
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.format import NOTHING, Answered, Format, Said
from kvfence.scan.formats.pending import Half, Pending
from kvfence.scan.formats.reprs import literal_at
from kvfence.scan.formats.server_lines import ServerLine, ServerLines, text_of
from kvfence.scan.reading.record import Record

_HEAD_CHARS = 600
"""Within so many a line says what it is; what stands further in is somebody's text."""
_RECEIVED = re.compile(r"(?:Received request (\S+)|Request (\S+) details): (prompt: |params: )")
_GENERATED = re.compile(r"Generated response (\S+?)( \(streaming (?:delta|complete)\))?: output: ")
_TOKEN_IDS = re.compile(r", prompt_token_ids: \[([\d, ]*)\]")
_FINISH = re.compile(r"finish_reason: (\w+)\s*$")
_WRAPPED = re.compile(r"\[reasoning: (.*)\]", re.DOTALL)
_ONLY_COUNTED = re.compile(r"<streaming_complete: \d+ tokens>")
_DELTA = " (streaming delta)"
_CUT_FROM = 64
"""A prompt of fewer characters may well have a token for each."""


def _knows(record: Record) -> bool:
    text = text_of(record)
    return bool(_RECEIVED.search(text, 0, _HEAD_CHARS) or _GENERATED.search(text, 0, _HEAD_CHARS))


class _Reader:
    def __init__(self) -> None:
        self._lines, self._pending = ServerLines(), Pending()

    def read(self, record: Record) -> Iterator[Exchange | Unread]:
        """An exchange where this line has its answer; requests that were given up for want of memory."""
        line = self._lines.feed(record)
        if line is None:
            return
        received = _RECEIVED.search(line.text, 0, _HEAD_CHARS)
        if received:
            yield from self._received(line, received)
            return
        generated = _GENERATED.search(line.text, 0, _HEAD_CHARS)
        if generated:
            yield from self._generated(line, generated)

    def rest(self) -> Iterator[Exchange]:
        """The requests that have no answer in this file."""
        for name, half in self._pending.rest():
            yield from _untold(name, half)

    def _received(self, line: ServerLine, received: re.Match[str]) -> Iterator[Exchange]:
        name = received.group(1) or received.group(2)
        prompt = _prompt(line.text, received.end()) if received.group(3) == "prompt: " else NOTHING
        if prompt == NOTHING and self._pending.get(name):
            return  # its details came before
        half = Half(line.place, prompt, fields={"began_ms": line.at_ms})
        for given_up, old in self._pending.put(name, half):
            yield from _untold(given_up, old)

    def _generated(self, line: ServerLine, generated: re.Match[str]) -> Iterator[Exchange]:
        name, of_stream = generated.group(1), generated.group(2)
        half = self._half_of(name)
        if half is None:
            half = Half(line.place)
            for given_up, old in self._pending.put(name, half):
                yield from _untold(given_up, old)
        literal = literal_at(line.text, generated.end())
        said = NOTHING if literal is None else Said(literal.text)
        if of_stream == _DELTA:
            wrapped = _WRAPPED.fullmatch(said.text)
            self._pending.grow(half, wrapped.group(1) if wrapped else said.text)
            return
        if half.pieces and (said == NOTHING or _ONLY_COUNTED.fullmatch(said.text)):
            said = Said("".join(half.pieces))
        elif _ONLY_COUNTED.fullmatch(said.text):
            said = NOTHING
        found = _FINISH.search(line.text, max(0, len(line.text) - _HEAD_CHARS))
        finish = found.group(1) if found else None
        place = line.place if half.is_told else half.place  # further choices of one request stand at their own lines
        half.is_told = True
        yield _exchange(name, half, place, Answered(said=said, finish=finish), line.at_ms)

    def _half_of(self, name: str) -> Half | None:
        """A request's half; those of completions have the number of their prompt behind the id."""
        half = self._pending.get(name)
        number = 0
        while half is None or half.is_told:
            numbered = self._pending.get(f"{name}-{number}")
            if numbered is None:
                break
            half, number = numbered, number + 1
        return half


def _prompt(text: str, at: int) -> Said:
    literal = literal_at(text, at)
    if literal is None:
        return NOTHING
    ids = _TOKEN_IDS.search(text, literal.end)
    chars = len(literal.text)
    if ids and chars >= _CUT_FROM and ids.group(1).count(",") + 1 >= chars:
        return Said(literal.text, Coverage.CUT)
    return Said(literal.text)


def _untold(name: str, half: Half) -> Iterator[Exchange]:
    if not half.is_told:
        answered = (
            Answered(said=replace(Said("".join(half.pieces)), coverage=Coverage.CUT)) if half.pieces else Answered()
        )
        yield _exchange(name, half, half.place, answered, None)


def _exchange(name: str, half: Half, place: Place, answered: Answered, ended_ms: int | None) -> Exchange:
    began = half.fields.get("began_ms")
    return exchange(
        place,
        half.prompt,
        answered,
        id=name,
        began_ms=began if isinstance(began, int) else None,
        ended_ms=ended_ms,
        status=200 if answered.finish else None,
    )


VLLM = Format(
    name="vllm",
    title="vLLM: a server's log with --enable-log-requests and --enable-log-outputs",
    knows=_knows,
    reader=lambda _: _Reader(),
    is_joined=True,
    has_other_lines=True,
)
