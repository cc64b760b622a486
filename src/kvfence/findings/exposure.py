"""What a scan of past traffic has found, as it is reported. Nothing here holds a text or a secret whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from kvfence.findings.verdict import Verdict
from kvfence.findings.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A past request, as a report names it."""

    id: str
    tenant: str | None
    at_ms: int | None
    """Milliseconds since 1970, UTC."""
    model: str | None
    where: str
    """The file and the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A stretch of an answer that stands in another request and not in its own."""

    response: Logged
    source: Logged
    """Whose text it is, as far as the logs say; the likeliest of `candidates`."""
    candidates: int
    """Requests that have the same stretch: over 1, whose it is cannot be told apart."""
    in_prompt: bool
    """Whether it stands in the source's prompt; else in its answer."""
    span_chars: int
    response_char: int
    """Where in the answer it begins, in characters."""
    source_char: int
    across_tenants: bool
    """Whether the two are of different tenants; False also where a log does not say."""
    score: float
    """0 to 1: how surprising it is that the two share it."""
    preview: str
    """Redacted."""

    @property
    def between_ms(self) -> int | None:
        """Time from the source to the answer; None where either has no time."""
        if self.response.at_ms is None or self.source.at_ms is None:
            return None
        return self.response.at_ms - self.source.at_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Something in one exchange that is seen where context was lost; evidence, never proof."""

    kind: str
    request: Logged
    score: float
    """0 to 1, calibrated: the share of such signs that were right on a labelled set."""
    evidence: str
    """Redacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A secret to rotate: what it is, never what it says."""

    kind: str
    redacted: str
    fingerprint: str
    """A keyed hash of the value, to find it again with the same key."""
    requests: tuple[str, ...]
    """Ids, each once, in the order of the logs."""
    first_ms: int | None
    last_ms: int | None
    owner: str | None
    """The tenant in whose request it stood first, where the log says one."""
    in_foreign_answer: bool
    """Whether it stood in an answer to somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Something of the input that could not be read."""

    file: str
    line: int | None
    why: str
    count: int = 1
    """How many such lines or files this stands for: of one file, so many are listed and the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCoverage:
    """Requests by how much of both their texts could be looked at."""

    whole: int
    cut: int
    encrypted: int
    omitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """What began in one hour of the past; hours without a request are left out."""

    from_ms: int
    """Its first millisecond since 1970, UTC."""
    requests: int
    exposed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """The whole of a scan."""

    requests: int
    exposed: int
    """Requests inside the window that was asked about; all of them where none was."""
    coverage: TextCoverage
    not_read: tuple[NotRead, ...]
    matches: tuple[Match, ...]
    signs: tuple[Sign, ...]
    credentials: tuple[Credential, ...]
    not_looked_for: tuple[str, ...] = ()
    """What was asked and could not be looked for at all, in words."""
    window: Window = field(default_factory=Window)
    """What was asked about."""
    hours: tuple[Hour, ...] = ()
    """In the order of time; requests without a time are in none."""
    signs_left_out: int = 0
    """Signs beyond those that are listed, which are the surest."""

    @property
    def skipped(self) -> int:
        """Lines, rows and files that could not be read."""
        return sum(one.count for one in self.not_read)

    @property
    def verdict(self) -> Verdict:
        """Found where an answer has another's text or a secret was exposed; clean only of what could be read whole."""
        if self.matches or self.credentials:
            return Verdict.FOUND
        unseen = self.not_read or self.not_looked_for or self.coverage.whole < self.requests or not self.requests
        return Verdict.UNKNOWN if unseen or self.signs else Verdict.CLEAN
