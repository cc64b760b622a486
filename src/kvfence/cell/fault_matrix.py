"""Faults by layers that stand alone: every fault with no layer, with each one by itself, and with all of them.

Two answers for each: was another tenant's slot read, and was a wrong answer given with status 200? Most faults are made
in the running cell, with its digests, and judged by the taint oracle and by the honest answer; those that can happen at
any of many moments are searched by the checker at every one of them. Nothing here knows what the outcome should be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kvfence.cell import tampering
from kvfence.cell.ablation import (
    FITS,
    Tried,
    ask_of,
    expired_pull,
    incident,
    judge,
    late_write,
    new_cell,
    two_documents,
)
from kvfence.cell.frames import Frame, Parcel
from kvfence.cell.stepped import SteppedCell
from kvfence.cell.tampering import colliding, tampered
from kvfence.core import events as on
from kvfence.core.ids import Role
from kvfence.core.rules import Layer, Reference, Rules, Wire, only
from kvfence.verify.bound import SMALL, TWO_PAGES, Budget
from kvfence.verify.reach import reached
from kvfence.verify.world import Setting

COLUMNS: dict[str, tuple[Layer, ...]] = {
    "none": (),
    **{str(layer): (layer,) for layer in Layer},
    "all": tuple(Layer),
}
"""What is switched on, by the name of the column."""

Attempt = Callable[[Rules, str, random.Random], Tried]


@dataclass(frozen=True, slots=True)
class Fault:
    """A row: what goes wrong, when, and who makes it."""

    name: str
    what: str
    attempts: tuple[tuple[str, Attempt], ...]
    """One for each timing or wire that matters; one leak is a leak."""
    by: str = "cell"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A cell of the matrix."""

    fault: str
    column: str
    foreign: bool
    wrong: bool
    ended: tuple[str, ...]
    """For each timing, how B's request ended; in a search `met`, or how many states there are."""


def outcomes(seed: int = 0) -> Iterator[Outcome]:
    """The whole matrix, row by row. The same documents in every cell."""
    for fault in FAULTS:
        for column in COLUMNS:
            yield outcome(fault, column, seed)


def outcome(fault: Fault, column: str, seed: int = 0) -> Outcome:
    """One cell."""
    rules = only(*COLUMNS[column])
    runs = [attempt(rules, timing, random.Random(seed)) for timing, attempt in fault.attempts]  # noqa: S311 — documents
    return Outcome(
        fault=fault.name,
        column=column,
        foreign=any(run.oracle_saw or run.secrets for run in runs),
        wrong=any(run.wrong_answer for run in runs),
        ended=tuple(f"{run.timing}: {run.status}" for run in runs),
    )


def _late_message(rules: Rules, timing: str, rng: random.Random) -> Tried:
    """A's pages come in a message after A has hung up, between B's own pages and B's manifest."""
    cell = new_cell(rules, Wire.TWO_SIDED, prompts_at_once=2)
    victim, asker = two_documents(rng, FITS, FITS, victim_asks=False)
    given_up = cell.ask(ask_of("A", victim))
    _send_without_decode(cell)
    late = [parcel for parcel in cell.mail(Role.DECODE) if _is(parcel, on.PagesOffered)]
    cell.hang_up(given_up)
    cell.settle()
    room = cell.ask(ask_of("B", asker))
    _send_without_decode(cell)
    waiting = cell.mail(Role.DECODE)
    pages = [parcel for parcel in waiting if _is(parcel, on.PagesOffered)]
    for parcel in (*pages, *late, *(parcel for parcel in waiting if parcel not in pages)):
        cell.post(Role.DECODE, parcel)
    cell.settle()
    return judge(cell, room, timing, victim, asker)


def _send_without_decode(cell: SteppedCell) -> None:
    """Decode reserves; then prefill does all that it can, and decode looks at nothing."""
    cell.turn(Role.DECODE)
    while cell.turn(Role.PREFILL):
        pass


def _is(parcel: Parcel, kind: type[on.Event]) -> bool:
    return isinstance(parcel, Frame) and isinstance(parcel.event(), kind)


def _clock_forward(rules: Rules, timing: str, rng: random.Random) -> Tried:
    """Decode's clock jumps while A's pages are on their way, so that the wait for them runs out; then B comes."""
    cell = new_cell(rules, Wire.PUSH, prompts_at_once=2)
    victim, asker = two_documents(rng, FITS, FITS, victim_asks=False)
    cell.ask(ask_of("A", victim), held=True)
    cell.settle()
    cell.wait(cell.config.handoff_timeout_s + 1)
    cell.settle()
    room = cell.ask(ask_of("B", asker))
    _send_without_decode(cell)
    cell.let_go()
    cell.settle()
    return judge(cell, room, timing, victim, asker)


def _clock_backward(rules: Rules, timing: str, rng: random.Random) -> Tried:
    """The clock is set back by a day in the middle of B's handoff."""
    cell = new_cell(rules, Wire.PULL)
    victim, asker = two_documents(rng, FITS, FITS)
    cell.ask(ask_of("A", victim))
    cell.settle()
    room = cell.ask(ask_of("B", asker), held=True)
    cell.settle()
    cell.wait(-86_400)
    cell.settle()
    cell.let_go()
    cell.settle()
    return judge(cell, room, timing, victim, asker)


def _searched(wire: Wire, reference: Reference = Reference.FROM_PREFILL, **may: int) -> tuple[str, Attempt]:
    """Every order of events on this wire with one of these faults at any moment, in the checker's world."""

    def attempt(rules: Rules, timing: str, _rng: random.Random) -> Tried:
        budget = Budget(requests=2, faults=min(sum(may.values()), 1), **may)
        bound = replace(SMALL, budget=budget, shapes=(TWO_PAGES,), decode_pages=3)
        seen = reached(Setting(replace(rules, reference=reference), wire, bound, only_reads=True))
        status = "met" if seen.foreign else f"{seen.states} states"
        return Tried(timing, (), seen.wrong, status, int(seen.foreign))

    return str(wire), attempt


def _made(name: str, what: str, fault: Callable[[tampering.Staged], None]) -> Fault:
    return Fault(name, what, (("before the seal", tampered(fault)),))


def _anywhere(name: str, what: str, *wires: tuple[str, Attempt]) -> Fault:
    return Fault(name, what, wires, by="checker")


FAULTS: tuple[Fault, ...] = (
    _anywhere("nothing", "The control: nothing goes wrong, in any order.", _searched(Wire.PUSH), _searched(Wire.PULL)),
    Fault("over-long prompt", "The incident: a prompt that does not fit becomes one token.", (("push", incident),)),
    _made("lost page", "One page never lands, and the wire says that it has.", tampering.lost_page),
    _made("swapped pages", "Two pages of the prompt land in each other's places.", tampering.swapped_pages),
    _made("page of another room", "A page of another tenant lands in its place.", tampering.page_of_another_room),
    _made("stale page", "The pages are sent as they were before they were computed.", tampering.stale_page),
    _made("bit flip on the way", "One bit of one number changes before decode looks.", tampering.flipped_bit),
    _made("bit flip after the seal", "The same in decode's memory, once it has looked.", tampering.flipped_bit_later),
    _made("short manifest", "One page is sent and attested, where forty were asked for.", tampering.short_manifest),
    _made("replayed manifest", "Another room's manifest says that all is there.", tampering.replayed_manifest),
    _anywhere(
        "forged done",
        "A caller says that all is there, with every figure right but the digests.",
        _searched(Wire.PUSH, Reference.MADE_UP, duplicates=1),
    ),
    _anywhere(
        "forged reference",
        "A caller names pages of prefill, with every figure right but the digests.",
        _searched(Wire.PULL, Reference.MADE_UP, duplicates=1),
    ),
    Fault(
        "wrong epoch of a write",
        "A room's pages come in a message after it was given up, when they are the next one's.",
        (("two-sided", _late_message),),
    ),
    Fault(
        "wrong epoch of a read",
        "A read goes on after the pages have changed hands.",
        (("while A's are computed", expired_pull), ("after A's are computed", expired_pull)),
    ),
    Fault(
        "late write",
        "A room's pages land one-sided after it was given up, when they are the next one's.",
        tuple((timing, late_write) for timing in ("before B's pages", "before the seal", "after the seal")),
    ),
    _made("done too early", "The manifest comes twice, the first time before its pages.", tampering.early_done),
    _anywhere(
        "duplicated done",
        "The manifest, or any other message, comes once more at any later time.",
        _searched(Wire.PUSH, duplicates=1),
        _searched(Wire.PULL, duplicates=1),
    ),
    _anywhere("manifest overtakes", "It overtakes its pages, where both are messages.", _searched(Wire.TWO_SIDED)),
    _anywhere(
        "crash at each step, push",
        "A worker dies at any moment, with its memory, and comes back with none.",
        _searched(Wire.PUSH, crashes=1),
    ),
    _anywhere("crash at each step, pull", "The same where decode reads.", _searched(Wire.PULL, crashes=1)),
    Fault("clock jump of the handoff", "The wait for the pages runs out early.", (("forward", _clock_forward),)),
    Fault("clock jump of the lease", "The lease runs out early.", (("forward", expired_pull),)),
    Fault("clock set back", "By a day, in the middle of a handoff.", (("backward", _clock_backward),)),
    _made(
        "digest collision, short manifest",
        "One page is sent, and by accident all digests agree.",
        colliding(tampering.short_manifest),
    ),
    _made(
        "digest collision, stale page",
        "The pages are stale, and by accident all digests agree.",
        colliding(tampering.stale_page),
    ),
    _made("wrong layout", "Prefill's rows are the other way round, and attested as sent.", tampering.wrong_layout),
)
"""The rows."""
