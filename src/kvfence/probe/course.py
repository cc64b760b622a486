"""Keeps count of a running campaign for whoever watches it: what is under way, what is left, how long that takes.

It decides nothing. What is left is the plan, played on from what was seen; it is played again where the campaign took
another turn, and for no more than a small part of the time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kvfence.findings.progress import Budget, Progress
from kvfence.findings.recall import LengthVerdict
from kvfence.probe.campaign import Campaign
from kvfence.probe.foresight import ahead
from kvfence.probe.limits import Purse
from kvfence.probe.record import CUT_OFF, Round, Seen, Step
from kvfence.probe.refusals import SUCCESS
from kvfence.probe.target import Bounds
from kvfence.probe.time_left import Load, Measured, seconds_left

AHEAD_MAX = 400
"""Requests that are foreseen; playing a plan of so many takes about a second."""
PLAYED_SHARE = 0.05
"""Of the time, that may go into playing the plan again."""

Watcher = Callable[[Progress], None]
"""Told whenever a request begins or ends."""


@dataclass(slots=True)
class Course:
    """One running campaign, told to a watcher; None: nobody watches, and nothing is counted."""

    campaign: Campaign
    bounds: Bounds
    purse: Purse
    watch: Watcher | None
    clock: Callable[[], float]
    began: float
    _left: deque[Round] = field(default_factory=deque, init=False)
    """The round that is under way and those behind it, as they are foreseen."""
    _is_all: bool = field(default=True, init=False)
    _ends_by: str = field(default="", init=False)
    _tokens: int = field(default=0, init=False)
    _usd: float | None = field(default=None, init=False)
    _seen: Seen = field(default=(), init=False)
    _under_way: list[Step] = field(default_factory=list, init=False)
    _ended_in_round: int = field(default=0, init=False)
    _round_began: float = field(default=0.0, init=False)
    _measured: list[Measured] = field(default_factory=list, init=False)
    _play_again_at: float = field(default=0.0, init=False)

    def goes_on(self, wanted: Round, seen: Seen) -> None:
        """A round begins, after what has been seen."""
        if self.watch is None:
            return
        self._seen, self._ended_in_round = seen, 0
        if not self._left or (not _is_like(self._left[0], wanted) and self.clock() >= self._play_again_at):
            self._play()
        self._round_began = self.clock()
        self._tell(wanted[0])

    def begins(self, step: Step) -> None:
        """A request is about to be made."""
        self._under_way.append(step)
        self._tell(step)

    def ends(self, step: Step) -> None:
        """It has ended, in whatever way."""
        self._under_way.remove(step)
        self._ended_in_round += 1
        self._tell(self._under_way[0] if self._under_way else step)

    def went(self, judged: Seen) -> None:
        """A round has ended, with these answers."""
        if self.watch is None:
            return
        answered = sum(one.exchange.tokens for one in judged if one.exchange.status == SUCCESS)
        self._measured.append(Measured(Load(len(judged), answered), self.clock() - self._round_began))
        if self._left:
            self._left.popleft()

    def _play(self) -> None:
        began = self.clock()
        played = ahead(self.campaign, self.bounds, self.purse, self._seen, at_most=AHEAD_MAX)
        self._left, self._is_all = deque(played.rounds), played.is_all
        self._ends_by = played.stopped_by
        spent = played.purse.spent
        self._tokens, self._usd = spent.prompt_tokens + spent.answer_tokens, spent.usd
        self._play_again_at = self.clock() + (self.clock() - began) / PLAYED_SHARE

    def _tell(self, step: Step) -> None:
        if self.watch is None:
            return
        spent, limits = self.purse.spent, self.purse.limits
        asked = len(self._seen) + self._ended_in_round
        self.watch(
            Progress(
                scenario=step.scenario,
                tokens=step.tokens,
                why=step.why,
                asked=asked,
                under_way=len(self._under_way),
                foreseen=max(len(self._seen) + sum(map(len, self._left)), asked + len(self._under_way)),
                is_all=self._is_all,
                ends_by=self._ends_by,
                spent=spent,
                foreseen_tokens=max(self._tokens, spent.prompt_tokens + spent.answer_tokens),
                foreseen_usd=spent.usd if self._usd is None or spent.usd is None else max(self._usd, spent.usd),
                budget=Budget(tokens=limits.tokens, usd=limits.usd),
                answers=_kinds(self._seen),
                seconds=self.clock() - self.began,
                seconds_left=self._seconds_left(),
            )
        )

    def _seconds_left(self) -> float | None:
        """What the foreseen rounds take, less what the one under way has taken already."""
        loads = [_load(steps, self.campaign) for steps in self._left]
        whole, rest = seconds_left(self._measured, loads), seconds_left(self._measured, loads[1:])
        if whole is None or rest is None or not self._is_all:
            return None
        return max(rest, whole - (self.clock() - self._round_began))


def _is_like(foreseen: Round, wanted: Round) -> bool:
    """Whether a round is the one foreseen; by a few tokens it may differ."""
    return [(step.scenario, step.part) for step in foreseen] == [(step.scenario, step.part) for step in wanted]


def _load(steps: Sequence[Step], campaign: Campaign) -> Load:
    return Load(len(steps), sum(step.tokens for step in steps if step.tokens <= campaign.longest))


def _kinds(seen: Seen) -> tuple[tuple[LengthVerdict, int], ...]:
    counts = Counter(one.result.verdict for one in seen if one.exchange.step.part != CUT_OFF)
    worst = [kind for kind in LengthVerdict if kind is not LengthVerdict.CLEAN]
    return tuple((kind, counts[kind]) for kind in (*worst, LengthVerdict.CLEAN) if counts[kind])
