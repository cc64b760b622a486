"""Defence in depth, run and not assumed: each fault with every layer off, then with each invariant alone.

Two answers for each: did tenant B's answer carry tenant A's text, and was a wrong answer given with status 200? A
fault that depends on timing is tried at each timing that matters; one leak is a leak. Nothing here knows what the
outcome should be; a test beside it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from kvfence.cell.asks import Ask
from kvfence.cell.config import CellConfig
from kvfence.cell.documents import QUESTION, Document, make_document
from kvfence.cell.stepped import SteppedCell
from kvfence.cell.taint import Oracle
from kvfence.core import events as on
from kvfence.core.ids import Role, RoomId
from kvfence.core.rules import Layer, Rules, Wire, only

PAGE = 16
FITS = 40 * PAGE
"""Tokens of a prompt that both workers can hold."""
TOO_LONG = 70 * PAGE
"""Tokens of a prompt that decode can hold and prefill cannot."""
ANSWER = 144
"""Long enough for two whole lines of a document: wherever a model starts to copy, a whole secret follows."""

ALONE: dict[str, tuple[Layer, ...]] = {
    "none": (),
    "I1": (Layer.ADMISSION,),
    "I2": (Layer.COUNT, Layer.DIGEST),
    "I3": (Layer.WRITER_FENCE,),
    "I4": (Layer.READER_FENCE,),
    "I5": (Layer.CLEAN_PAGES,),
    "all": tuple(Layer),
}
"""What is switched on, by the name of the column. I2 is both of its halves."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One run of a fault at one timing."""

    timing: str
    secrets: tuple[str, ...]
    """A's secrets that stand whole in B's answer."""
    wrong_answer: bool
    status: str
    """`200`, or the refusal or check that ended B's request."""
    oracle_saw: int
    """How many foreign reads the taint oracle noted."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A cell of the table: a fault with one invariant alone."""

    fault: str
    only: str
    tried: tuple[Tried, ...]

    @property
    def leaked(self) -> bool:
        """Whether one of A's secrets came back whole at any timing."""
        return any(run.secrets for run in self.tried)

    @property
    def wrong_answer(self) -> bool:
        """Whether a wrong answer came with status 200 at any timing."""
        return any(run.wrong_answer for run in self.tried)


def run_ablation(rng: random.Random) -> Iterator[Trial]:
    """Every fault with every column of `ALONE`."""
    for fault, (timings, attempt) in FAULTS.items():
        for name, layers in ALONE.items():
            runs = tuple(attempt(only(*layers), timing, rng) for timing in timings)
            yield Trial(fault, name, runs)


def incident(rules: Rules, timing: str, rng: random.Random) -> Tried:
    """B's prompt does not fit prefill; it becomes one token, and decode reads what A left in its pages."""
    cell = new_cell(rules, Wire.PUSH)
    victim, asker = two_documents(rng, FITS, TOO_LONG)
    for _ in range(3):
        cell.ask(ask_of("A", victim))
        cell.settle()
    room = cell.ask(ask_of("B", asker))
    cell.settle()
    return judge(cell, room, timing, victim, asker)


def late_write(rules: Rules, timing: str, rng: random.Random) -> Tried:
    """A hangs up while its pages are in flight; they land when B has those pages."""
    cell = new_cell(rules, Wire.PUSH, prompts_at_once=2)
    victim, asker = two_documents(rng, FITS, FITS, victim_asks=False)
    aborted = cell.ask(ask_of("A", victim), held=True)
    cell.settle()
    cell.hang_up(aborted)
    cell.settle()
    room = cell.ask(ask_of("B", asker))
    cell.turn(Role.DECODE)  # B's pages are reserved
    if timing == "before B's pages":
        cell.let_go()
    while cell.turn(Role.PREFILL):
        pass  # B's pages have landed, decode has not looked at its mailbox yet
    if timing == "before the seal":
        cell.let_go()
    cell.turn(Role.DECODE)  # sealed, and the first token is out
    cell.let_go()
    cell.settle()
    return judge(cell, room, timing, victim, asker)


def expired_pull(rules: Rules, timing: str, rng: random.Random) -> Tried:
    """Decode reads B's pages from prefill after their lease ran out, when they hold A's prompt."""
    cell = new_cell(rules, Wire.PULL)
    victim, asker = two_documents(rng, FITS, FITS)
    room = cell.ask(ask_of("B", asker), held=True)
    cell.settle()  # prefill holds B's pages, decode's read is under way
    cell.wait(cell.config.lease_s + 1)
    cell.settle()  # the lease is over
    cell.ask(ask_of("A", victim))
    if timing == "while A's are computed":
        cell.turn(Role.DECODE)
        cell.turn(Role.PREFILL)  # one chunk: half of A's prompt
    else:
        cell.settle()
    cell.let_go()
    cell.settle()
    return judge(cell, room, timing, victim, asker)


Attempt = Callable[[Rules, str, random.Random], Tried]

FAULTS: dict[str, tuple[tuple[str, ...], Attempt]] = {
    "placeholder": (("after A's answers",), incident),
    "late-write": (("before B's pages", "before the seal", "after the seal"), late_write),
    "expired-pull": (("while A's are computed", "after A's are computed"), expired_pull),
}


def new_cell(rules: Rules, wire: Wire, *, prompts_at_once: int = 1) -> SteppedCell:
    """Prefill holds so many fitting prompts and a little more; one more takes the pages of the first."""
    return SteppedCell(
        CellConfig(
            prefill_pool_tokens=prompts_at_once * FITS + 4 * PAGE,
            decode_pool_tokens=4 * TOO_LONG,
            context_tokens=2 * TOO_LONG,
            page_size=PAGE,
            rules=rules,
            wire=wire,
            chunk_tokens=FITS // 2,
            oracle=Oracle.RECORD,
        )
    )


@lru_cache(maxsize=16)
def _honest_answer(asker: Document) -> bytes:
    """What B gets where everything fits and nothing goes wrong."""
    ample = 4 * TOO_LONG
    cell = SteppedCell(CellConfig(prefill_pool_tokens=ample, decode_pool_tokens=ample, context_tokens=ample))
    room = cell.ask(ask_of("B", asker))
    cell.settle()
    return cell.answers[room].text


def two_documents(
    rng: random.Random, victim_tokens: int, asker_tokens: int, *, victim_asks: bool = True
) -> tuple[Document, Document]:
    """A's and B's. Where A is never answered, its document ends without a question that B's answer could run into."""
    victim = make_document(rng, victim_tokens - ANSWER, question=QUESTION if victim_asks else "")
    return victim, make_document(rng, asker_tokens - ANSWER, question=QUESTION)


def ask_of(tenant: str, document: Document) -> Ask:
    """A request with that document for a prompt."""
    return Ask(tenant=tenant, prompt=document.text.encode(), max_new_tokens=ANSWER)


def judge(cell: SteppedCell, room: RoomId, timing: str, victim: Document, asker: Document) -> Tried:
    """What came of B's request: whose text, right or wrong, and how it ended."""
    answer = cell.answers[room]
    text = answer.text.decode(errors="replace")
    return Tried(
        timing=timing,
        secrets=victim.secrets_in(text),
        wrong_answer=answer.finished and answer.text != _honest_answer(asker),
        status=_status(answer.end),
        oracle_saw=cell.stores[Role.DECODE].foreign_reads,
    )


def _status(end: on.Event | None) -> str:
    match end:
        case on.AnswerEnded():
            return "200"
        case on.RequestRefused():
            return f"400 at {end.refusal.gate}"
        case on.RequestFaulted():
            return f"500 {end.check}"
        case _:
            return "no answer"
