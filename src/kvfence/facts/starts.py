"""Which statements belong to which start of which server. Lines come in one order; servers may not.

One stream is what one printer printed: the lines of a pod, of a compose service, of a host's unit, or else of a file.
Within a stream a server may start again, and several servers may have been written one after the other. A step back
in the phases of a start means that another one began. Where two servers of one stream start at the same time and
their lines carry no names, their pools cannot be told apart; then nobody gets them, and the reading says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from kvfence.facts.fact import Engine, Happening, Kind
from kvfence.facts.logs.evidence import Heard
from kvfence.facts.logs.statement import Happened, Phase, Statement
from kvfence.findings.finding import Evidence
from kvfence.findings.redact import as_evidence

STARTS_MAX = 32
"""Of one stream. A crash loop writes thousands; the last ones are kept and the rest are counted."""
_EVIDENCE_MAX = 4
_REQUESTS_MAX = 20
_EVIDENCE_CHARS = 2048
"""How much of a line is masked and cut to make evidence of it; of settings, each pair is its own evidence."""
_STRAIGHT_AFTER_LINES = 40
"""A refusal is printed once a rank, and a pod has up to 16 of them, before the batch that it ends in."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a log. Evidence is made of it only when it is kept: masking costs more than all the rest."""

    file: str
    line: int
    text: str

    def evidence(self, part: str = "") -> Evidence:
        """The line as evidence, or only a part of it; masked and cut either way."""
        return Evidence(file=self.file, line=self.line, text=as_evidence((part or self.text)[:_EVIDENCE_CHARS]))


@dataclass(slots=True)
class _Tally:
    """One kind of happening on one start, while its lines are being read."""

    by_rank: Counter[str] = field(default_factory=Counter)
    asked_tokens_max: int | None = None
    first: list[Evidence] = field(default_factory=list)
    last: Place | None = None
    """Not made into evidence before it is known to be the last."""
    requests: dict[str, None] = field(default_factory=dict)

    def add(self, happened: Happened, rank: str, place: Place, times: int) -> None:
        """Count it. Every rank may print the same event."""
        self.by_rank[rank] += times
        known = (self.asked_tokens_max, happened.asked_tokens)
        self.asked_tokens_max = max((tokens for tokens in known if tokens), default=None)
        if len(self.first) < _EVIDENCE_MAX:
            self.first.append(place.evidence())
        else:
            self.last = place
        if happened.request and len(self.requests) < _REQUESTS_MAX:
            self.requests[happened.request] = None

    def is_full(self, happened: Happened) -> bool:
        """Whether of another one like that nothing is kept but that it came, the longest length and the last place."""
        named = happened.request is None or len(self.requests) >= _REQUESTS_MAX
        return named and len(self.first) >= _EVIDENCE_MAX

    def happening(self, kind: Kind) -> Happening:
        """What came of it; the rank that printed most counts."""
        last = (self.last.evidence(),) if self.last else ()
        return Happening(
            kind=kind,
            count=max(self.by_rank.values()),
            asked_tokens_max=self.asked_tokens_max,
            seen=(*self.first, *last),
            requests=tuple(self.requests),
        )


@dataclass(slots=True)
class Start:
    """One start of one server, while its lines are being read."""

    engine: Engine
    node: str | None
    heard: Heard = field(default_factory=Heard)
    reached: Phase | None = None
    _ranks_reached: dict[Phase, set[str]] = field(default_factory=dict)
    _tallies: dict[Kind, _Tally] = field(default_factory=dict)
    _refused_at: int | None = None
    """Where a prompt was last refused and no batch of one token has followed yet."""

    def add(self, statement: Statement, place: Place, times: int) -> None:
        """Take in what a line says, and as many before it that said the same."""
        for said in statement.said:
            seen = partial(place.evidence, said.text)
            self.heard.hear(said.name, rank=statement.rank, value=said.value, seen=seen)
        if statement.phase is not None:
            self.reached = max(self.reached or statement.phase, statement.phase)
            self._ranks_reached.setdefault(statement.phase, set()).add(statement.rank)
        for happened in statement.happened:
            if happened.kind is not Kind.PLACEHOLDER or self._follows_refusal(place.line):
                self._tallies.setdefault(happened.kind, _Tally()).add(happened, statement.rank, place, times)
            if happened.kind is Kind.REFUSED:
                self._refused_at = place.line

    def is_repeated_by(self, statement: Statement) -> bool:
        """Whether that line opens nothing, says nothing new, and what happened is kept as a count alone."""
        if statement.phase is not None or len(statement.happened) != 1:
            return False
        (happened,) = statement.happened
        tally = self._tallies.get(happened.kind)
        # How far behind a refusal a batch of one token stands is looked at line by line.
        counted = happened.kind is not Kind.PLACEHOLDER and tally is not None and tally.is_full(happened)
        return counted and all(self.heard.knows(said.name, statement.rank, said.value) for said in statement.said)

    def happenings(self) -> dict[Kind, Happening]:
        """What happened on it, by kind."""
        return {kind: tally.happening(kind) for kind, tally in self._tallies.items()}

    def begins_anew(self, statement: Statement) -> bool:
        """Whether that line is of a later start than this one."""
        if statement.phase is None or self.reached is None:
            return False
        match statement.engine:
            case Engine.SGLANG:
                return self._sglang_anew(statement)
            case Engine.VLLM:
                again = statement.rank in self._ranks_reached.get(Phase.SETTINGS, set())
                return self._launched_anew(statement) or (statement.phase is Phase.SETTINGS and again)
            case Engine.CELL:
                return True
            case Engine.LLAMA_CPP | Engine.TGI | Engine.TENSORRT_LLM | Engine.DYNAMO:
                return False  # read from endpoints; no reader of logs makes these

    def _launched_anew(self, statement: Statement) -> bool:
        if statement.phase is not Phase.LAUNCH or self.reached is None:
            return False
        flagged = any(said.name.startswith("flag.") for said in statement.said)
        return self.reached > Phase.LAUNCH or (flagged and self.heard.has("flag.model"))

    def _sglang_anew(self, statement: Statement) -> bool:
        said = {one.name: one.value for one in statement.said}
        if statement.phase is Phase.LAUNCH:
            return True
        if statement.phase is Phase.SETTINGS:
            asked = self.heard.last("flag.disaggregation_mode")
            other_role = asked is not None and said.get("set.disaggregation_mode") not in {None, asked.value}
            return other_role or self.reached is not Phase.LAUNCH
        known = statement.rank in self._ranks_reached.get(Phase.POOL, set())
        same = self.heard.values("headline.pool")[-1:] == (said.get("headline.pool"),) and self.heard.values(
            "headline.context"
        )[-1:] == (said.get("headline.context"),)
        return known and not same

    def _follows_refusal(self, number: int) -> bool:
        """Whether a batch of one token at that line is the refused request's; each refusal has one."""
        refused_at, self._refused_at = self._refused_at, None
        return refused_at is not None and number - refused_at <= _STRAIGHT_AFTER_LINES


@dataclass(slots=True)
class Stream:
    """The starts in one printer's lines, the latest last."""

    starts: list[Start] = field(default_factory=list)
    dropped: int = 0

    def add(self, statement: Statement, place: Place, times: int) -> None:
        """Take in a line, as part of the latest start or as the first of another one."""
        if not self.starts or self.starts[-1].begins_anew(statement):
            self.starts.append(Start(statement.engine, statement.node))
            if len(self.starts) > STARTS_MAX:
                del self.starts[0]
                self.dropped += 1
        self.starts[-1].add(statement, place, times)

    def is_repeated_by(self, statement: Statement) -> bool:
        """Whether that line is of the latest start and adds to a count there and to nothing else."""
        return bool(self.starts) and self.starts[-1].is_repeated_by(statement)

    def interleaved(self) -> tuple[Start, ...]:
        """The starts whose pools cannot be told apart: one without a headline, and after it one without settings."""
        unfinished: int | None = None
        for index, start in enumerate(self.starts):
            if start.engine is not Engine.SGLANG:
                return ()
            if start.reached is Phase.SETTINGS and unfinished is None:
                unfinished = index
            if unfinished is not None and not start.heard.has("set.style") and start.reached is Phase.POOL:
                return tuple(self.starts[unfinished:])
        return ()

    def alive(self) -> tuple[Start, ...]:
        """The starts without launch commands that a later start of the same role, with lines of its own, carries on."""
        return tuple(
            start
            for index, start in enumerate(self.starts)
            if start.reached is not Phase.LAUNCH or not any(_carries_on(later) for later in self.starts[index + 1 :])
        )


def _carries_on(later: Start) -> bool:
    return later.reached is not None and later.reached > Phase.LAUNCH
