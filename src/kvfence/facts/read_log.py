"""One log, from bytes to nodes with facts. The only place that puts scanning, unwrapping and readers together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from kvfence.facts.anchors import Anchors
from kvfence.facts.fact import Engine, Fact, NodeFacts
from kvfence.facts.logs import cell, sglang, sglang_facts, vllm, vllm_facts
from kvfence.facts.logs.evidence import Heard
from kvfence.facts.logs.statement import Statement
from kvfence.facts.reading import Reading
from kvfence.facts.recurring import Recurring, StreamKey
from kvfence.facts.scan import LINE_BYTES_MAX, Candidate, Readable, Repeated, candidates
from kvfence.facts.starts import Place, Start, Stream
from kvfence.facts.wrapping import Source, unwrap

_READERS: tuple[Callable[[str], Statement | None], ...] = (cell.read, sglang.read, vllm.read)
_RESOLVERS: Mapping[Engine, Callable[[Heard], dict[str, Fact]]] = {
    Engine.CELL: cell.resolve,
    Engine.SGLANG: sglang_facts.resolve,
    Engine.VLLM: vllm_facts.resolve,
}
_STREAMS_MAX = 1024
"""Printers in one log. Beyond it a log is no log of a deployment but of a fleet; the rest is left out and said so."""
_LAST_NUMBER = re.compile(r"[\d,.]+$")
_LAST_WORD = re.compile(r"[\w.,+-]+$")
_LAST_ARGUMENT = re.compile(r"\S+$")
_COMMENT = "#"


@dataclass(slots=True)
class _Streams:
    recurring: Recurring
    by_key: dict[StreamKey, Stream] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    def add(self, key: StreamKey, statement: Statement, place: Place, times: int = 1) -> None:
        if key not in self.by_key and len(self.by_key) >= _STREAMS_MAX:
            self.note(f"it holds more than {_STREAMS_MAX} printers; the later ones were left out")
            return
        self.by_key.setdefault(key, Stream()).add(statement, place, times)

    def note(self, gap: str) -> None:
        if gap not in self.gaps:
            self.gaps.append(gap)


def read_log(source: Readable, *, file: str, fallback_name: str) -> Reading:
    """Read a log to its end. `file` is how evidence names it, `fallback_name` what a node is called if no line says."""
    return read_parts([(file, source)], fallback_name)


def read_parts(parts: Iterable[tuple[str, Readable]], fallback_name: str) -> Reading:
    """Read one log that stands in several files, the oldest first; each is asked for when the one before is read."""
    streams, first = _Streams(Recurring(log_anchors().stems)), ""
    for file, source in parts:
        first = first or file
        for candidate in candidates(source, log_anchors(), streams.recurring):
            if isinstance(candidate, Repeated):
                again = candidate.repeats
                streams.add(again.key, again.statement, Place(file, candidate.number, again.text), again.times)
            else:
                _take(streams, candidate, file)
    for stream in streams.by_key.values():
        _settle(stream, streams)
    return Reading(tuple(_nodes(streams, first, fallback_name)), tuple(streams.gaps))


@cache
def log_anchors() -> Anchors:
    """What is looked for in a log: the stems of every line that a reader knows."""
    return Anchors.of([stem.encode() for stem in dict.fromkeys((*cell.STEMS, *sglang.STEMS, *vllm.STEMS))])


def understood(text: str) -> Statement | None:
    """What a bare line says to the first reader that knows it."""
    # Comments head our own samples; vLLM's `# GPU blocks: 229` is no comment.
    if text.startswith(_COMMENT) and " blocks: " not in text:
        return None
    return next((statement for read in _READERS if (statement := read(text))), None)


def _take(streams: _Streams, candidate: Candidate, file: str) -> None:
    if candidate.cut:
        streams.note(f"line {candidate.number} is longer than {LINE_BYTES_MAX >> 20} MiB and was read to there")
    line = unwrap(candidate.pieces)
    text = line.text if candidate.ended else _without_last_word(line.text)
    statement = understood(text)
    if statement is None:
        return
    place = Place(file, candidate.number, text)
    key = (line.source, statement.engine, statement.node)
    stream = streams.by_key.get(key)
    repeated = stream is not None and stream.is_repeated_by(statement)
    streams.add(key, statement, place)
    if repeated and len(candidate.pieces) == 1 and candidate.ended:
        streams.recurring.learn(candidate.pieces[0], text, statement, key)
    elif not repeated and (statement.said or statement.phase is not None):
        streams.recurring.forget(key)


def _without_last_word(text: str) -> str:
    """A line that the log ends in, without what may be half: its last word, or the last argument of a command.

    `681` may be the head of `681280`, `LM` of `LMCacheConnector`, and `--model-path /m` of `/models`. The cell's lists
    end in words that are known, so there only a number is doubtful.
    """
    if " --" in text:
        return _LAST_ARGUMENT.sub("", text)
    return (_LAST_NUMBER if "kvfence cell " in text else _LAST_WORD).sub("", text)


def _settle(stream: Stream, streams: _Streams) -> None:
    if stream.dropped:
        streams.note(f"a server in it started {stream.dropped + len(stream.starts)} times; only the last are shown")
    mixed = stream.interleaved()
    for start in mixed:
        start.heard.forget(sglang_facts.pool_names())
    if mixed:
        streams.note(
            "several servers in it start at the same time and their lines carry no name, so it cannot be told whose "
            "pool is whose; give one log per node, or take it with a prefix (kubectl logs --prefix)"
        )


def _nodes(streams: _Streams, file: str, fallback_name: str) -> Iterator[NodeFacts]:
    kept = [(key, start) for key, stream in streams.by_key.items() for start in stream.alive()]
    names = _named([(key[2], key[0]) for key, _start in kept], fallback_name)
    for name, (key, start) in zip(names, kept, strict=True):
        facts = _RESOLVERS[start.engine](start.heard)
        engine = _engine(start)
        yield NodeFacts(
            name=name,
            facts={"engine": engine, **facts} if engine else facts,
            happenings=start.happenings(),
            superseded=_is_superseded(start, streams.by_key[key]),
            server=_server(start, key, streams.by_key[key], file),
        )


def _engine(start: Start) -> Fact | None:
    seen = start.heard.first_place() or next((happening.seen[0] for happening in start.happenings().values()), None)
    return Fact(start.engine.value, seen) if seen else None


def _is_superseded(start: Start, stream: Stream) -> bool:
    later = stream.starts[stream.starts.index(start) + 1 :]
    return any(_same_server(start, other) for other in later)


def _server(start: Start, key: StreamKey, stream: Stream, file: str) -> str:
    """A name for a start's server, if it has more starts: its log, its printer, its first start's place."""
    same = [index for index, other in enumerate(stream.starts) if other is start or _same_server(start, other)]
    printer = key[0].long if key[0] else ""
    return f"{file} {printer} {key[1]} {key[2] or ''} {same[0]}" if len(same) > 1 else ""


def _same_server(one: Start, other: Start) -> bool:
    """The same role at the same port, or neither known."""
    names = ("set.disaggregation_mode", "flag.disaggregation_mode", "role.line", "role", "set.port", "flag.port")
    return all(one.heard.values(name) == other.heard.values(name) for name in names)


def _named(wanted: list[tuple[str | None, Source | None]], fallback_name: str) -> list[str]:
    """A name for each: its own, else its printer's short form, the long form if two share it, then numbered."""
    shorts = [own or (source.short if source else fallback_name) for own, source in wanted]
    longs_by_short: dict[str, set[str]] = {}
    for short, (_own, source) in zip(shorts, wanted, strict=True):
        longs_by_short.setdefault(short, set()).add(source.long if source else "")
    names = [
        short if own or len(longs_by_short[short]) == 1 or source is None else source.long
        for short, (own, source) in zip(shorts, wanted, strict=True)
    ]
    return numbered(names)


def numbered(names: Iterable[str]) -> list[str]:
    """The same names, with `#1`, `#2`, … behind those that stand there more than once."""
    names = list(names)
    total, used = Counter(names), Counter[str]()
    result = []
    for name in names:
        used[name] += 1
        result.append(name if total[name] == 1 else f"{name}#{used[name]}")
    return result
