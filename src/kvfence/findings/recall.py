"""What a probe found out about an endpoint, length by length. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kvfence.findings.depth_recall import NO_ANSWER, DepthRecall
from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.origin import Origin
from kvfence.findings.spent import Spent
from kvfence.findings.verdict import Verdict


class LengthVerdict(StrEnum):
    """What happened to one request, or to those of one length."""

    CLEAN = "clean"
    """Every marker came back, in order, and nobody else's."""
    LEAK = "leak"
    """A marker came back that another tenant had planted. It beats all else."""
    OFF_TOPIC = "off-topic"
    """Status 200, and text that the prompt gives no cause for: another script or language, paths, other topics."""
    GARBLED = "garbled"
    """Status 200 and markers that are changed, made up, out of order, or of this tenant's own earlier prompts."""
    TRUNCATED = "truncated"
    """Status 200, and a usage that counts clearly fewer prompt tokens than were sent."""
    LOST = "lost"
    """Status 200 and a sane answer in which own markers are missing."""
    REFUSED = "refused"
    """A clean 4xx of the kind that a prompt too long is answered with."""
    ERROR = "error"
    """A 5xx, another 4xx (a key, a rate), or the connection failed: nothing is known."""
    ELSEWHERE = "elsewhere"
    """A router had the answer from another provider than the one that was asked for: nothing is known of that one."""
    INCONCLUSIVE = "inconclusive"
    """The answer ended at its limit of tokens, or it was wrong once and could not be asked for again."""


class ProbeVerdict(StrEnum):
    """What the probe says of the endpoint. The worst that is known wins."""

    CLEAN = "clean"
    LEAK = "leak"
    OFF_TOPIC = "off-topic"
    GARBLED = "garbled"
    TRUNCATED = "truncated"
    LOST = "lost"
    LIMIT_OVERSTATED = "limit-overstated"
    """No foreign text, but a length that the endpoint declares is refused: its advertised limit is not its real one."""
    WEAK_MODEL = "weak-model"
    """The model does not recite even a short control: nothing is known of the server."""
    INCONCLUSIVE = "inconclusive"
    """Nothing long could be asked, or not often enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMarker:
    """A marker of somebody else in an answer: who planted it, and a masked sight of it."""

    planted_by: str
    planted_at_tokens: int | None
    """Length of the prompt that carried it; None for a marker of a campaign that nobody here knows."""
    depth: int | None
    shown: str
    origin: Origin | None = None
    """For a marker of another campaign that a registry knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthResult:
    """One request, judged; or all harvesting requests of one length, judged together."""

    tokens: int
    """Of the prompt, as the endpoint counts them where it says so."""
    why: str
    """Why this length was asked for."""
    status: int | None
    """HTTP status; None when there was no answer."""
    verdict: LengthVerdict
    recalled: int
    planted: int
    foreign: int
    """Markers of other requests, whole or cut."""
    evidence: tuple[ForeignMarker, ...] = ()
    detail: str = ""
    """One sentence: what the endpoint said, or how the answer differed. No text of anybody."""
    answers: tuple[tuple[LengthVerdict, int], ...] = ()
    """How often each verdict was given where the length was asked for several times; empty for once."""
    scenario: str = "sweep"
    """In which manner it was sent."""
    by_depth: DepthRecall = NO_ANSWER
    seconds: float = 0.0
    """From the sending of a request to the end of its answer, all of them together."""
    leak_rate: LeakRate | None = None
    """At this length alone; None for a single answer that is no harvest."""

    @property
    def asked(self) -> int:
        """How many requests this is about."""
        return sum(count for _, count in self.answers) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """One manner of asking, judged by itself."""

    name: str
    """As `--scenario` takes it."""
    verdict: LengthVerdict
    """The worst that was seen in it; inconclusive where nothing was."""
    requests: int
    detail: str = ""
    """Where and how often, or why it was not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The whole probe."""

    url: str
    model: str
    declared_context: int | None
    token_count_by: str
    """How lengths were made exact, and how exact they are."""
    tenants_told_apart_by: tuple[str, ...]
    """In what the two tenants' requests differed: "api key", and fields that the endpoint accepted. An endpoint may
    accept a field and not heed it."""
    lengths: tuple[LengthResult, ...]
    """The harvests in their order, then answers to the seeding tenant that leaked."""
    verdict: ProbeVerdict
    reason: str
    """One sentence: why this verdict."""
    requests: int
    seed: int
    leak_rate: LeakRate
    spent: Spent | None = None
    unasked: tuple[int, ...] = ()
    """Prompt tokens of what would have been asked, had it not ended before."""
    ended_by: str = ""
    """Who or what ended it before its plan was over, with a verb; empty where the plan is over."""
    scenarios: tuple[ScenarioResult, ...] = ()
    """In the order in which they were run."""
    refused_though_declared: tuple[int, ...] = ()
    """Prompt tokens that were refused, although they and an answer fit into what is declared."""
    thinking_tokens: int = 0
    """Room that each answer had for what a model thinks first; a length and a cost are to be read with it."""
    seconds: float = 0.0
    """That this run took; a campaign that went on from a journal was at work before as well."""

    @property
    def leaks(self) -> tuple[LengthResult, ...]:
        """The rows in which somebody else's marker came back."""
        return tuple(row for row in self.lengths if row.verdict is LengthVerdict.LEAK)

    @property
    def verified_tokens(self) -> int:
        """The longest prompt that was answered rightly, with nothing but right answers below it; 0 for none."""
        doubtful = [length.tokens for length in self.lengths if length.verdict is not LengthVerdict.CLEAN]
        clean = (length.tokens for length in self.lengths if length.verdict is LengthVerdict.CLEAN)
        return max((tokens for tokens in clean if not doubtful or tokens < min(doubtful)), default=0)

    @property
    def outcome(self) -> Verdict:
        """As every command's exit code has it."""
        match self.verdict:
            case ProbeVerdict.CLEAN:
                return Verdict.CLEAN
            case ProbeVerdict.INCONCLUSIVE | ProbeVerdict.WEAK_MODEL:
                return Verdict.UNKNOWN
            case _:
                return Verdict.FOUND
