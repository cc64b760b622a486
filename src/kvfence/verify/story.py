"""A trace for people: each move in a sentence, what changed by it, and an arrow of a sequence diagram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvfence.core.ids import Role
from kvfence.findings.interleaving import TraceStep
from kvfence.verify.move import Kind, Move
from kvfence.verify.traces import as_document
from kvfence.verify.world import TENANT_NAMES, WORKERS, End, Setting, World

_TIMERS = {"HandoffTimedOut": "the wait for the handoff", "LeaseExpired": "the lease"}

_SENTENCES = {
    Kind.ASK: "Tenant {tenant} asks with a prompt of {tokens} tokens (room {room}).",
    Kind.DELIVER: "{event} of room {room} reaches {role}, sent by {sender}.",
    Kind.DUPLICATE: "{event} of room {room} reaches {role}, and will come once more.",
    Kind.DROP: "{event} of room {room}, sent by {sender} to {role}, is lost.",
    Kind.PRESENT: "For room {room}, decode is brought the reference that was made for room {at}.",
    Kind.FORGE: "For room {room}, decode is brought a reference that prefill never made.",
    Kind.COMPUTE: "Prefill computes page {page} of room {room}.",
    Kind.LAND: "The write of page {page} of room {room} lands in decode's memory.",
    Kind.NOT_POSTED: "The write of page {page} of room {room} is never posted, since prefill was told to stop.",
    Kind.READ: "Decode reads page {page} of room {room} out of prefill's memory.",
    Kind.END_READ: "Decode's read for room {room} ends.",
    Kind.END_ANSWER: "Decode ends the answer of room {room}.",
    Kind.HANG_UP: "The client of room {room} hangs up.",
    Kind.TIME_OUT: "At {role}, {timer} of room {room} runs out.",
    Kind.LOSE_PATIENCE: "At {role}, {timer} of room {room} runs out.",
    Kind.NOTICE: "{role} learns that {sender} is gone.",
    Kind.CRASH: "The {role} worker dies.",
    Kind.COME_BACK: "The {role} worker comes back, with nothing in its memory.",
}
_ARROWS = {
    Kind.ASK: "clients->>router: {tenant} asks, {tokens} tokens (room {room})",
    Kind.DELIVER: "{sender}->>{role}: {event} (room {room})",
    Kind.DUPLICATE: "{sender}->>{role}: {event}, not for the last time (room {room})",
    Kind.DROP: "{sender}--x{role}: {event} (room {room})",
    Kind.PRESENT: "clients->>decode: the reference of room {at} (room {room})",
    Kind.FORGE: "clients->>decode: a reference made up (room {room})",
    Kind.LAND: "prefill-)decode: page {page} lands (room {room})",
    Kind.READ: "decode-)prefill: reads page {page} (room {room})",
    Kind.HANG_UP: "clients-xrouter: hangs up (room {room})",
}
"""What is not here is a note over the one that it befalls."""


def steps(moves: Sequence[Move], worlds: Sequence[World], setting: Setting) -> Iterator[TraceStep]:
    """`worlds` are those before and after each move: one more than moves; the last may be missing where it broke."""
    tenants = {move.room: TENANT_NAMES[move.tenant] for move in moves if move.kind is Kind.ASK}
    for at, move in enumerate(moves):
        after = worlds[at + 1] if at + 1 < len(worlds) else None
        words = _words(move, tenants, setting)
        says = _SENTENCES[move.kind].format(**words)
        note = f"Note over {move.role}: {says.rstrip('.')}"
        yield TraceStep(
            says=says[0].upper() + says[1:],
            then=() if after is None else tuple(_changes(worlds[at], after)),
            arrow=_ARROWS[move.kind].format(**words) if move.kind in _ARROWS else note,
            move=as_document(move),
        )


def diagram(steps: Sequence[TraceStep], why: str) -> str:
    """The trace as a Mermaid sequence diagram."""
    lines = ["sequenceDiagram", "    participant clients", *(f"    participant {role}" for role in Role)]
    lines += [f"    {step.arrow}" for step in steps]
    return "\n".join([*lines, f"    Note over router,decode: {why.replace(':', ',').replace(';', ',')}", ""])


def _words(move: Move, tenants: dict[int, str], setting: Setting) -> dict[str, object]:
    return {
        **move._asdict(),
        "page": move.at + 1,
        "tenant": tenants.get(move.room, ""),
        "tokens": setting.bound.shapes[move.at].prompt_tokens if move.kind is Kind.ASK else 0,
        "timer": _TIMERS.get(move.event, ""),
    }


def _changes(before: World, after: World) -> Iterator[str]:
    """Rooms whose state is another one now, and clients who have heard how it ended."""
    for role in WORKERS:
        was, now = before.worker(role).rooms, after.worker(role).rooms
        for room, state in now.items():
            name = type(state).__name__.lower()
            if room not in was or type(was[room]).__name__.lower() != name:
                yield f"room {room} is {name} at {role}"
        for room in was:
            if room not in now:
                yield f"room {room} is over at {role}"
    ends = {client.room: client.end for client in before.clients}
    for client in after.clients:
        if client.end is not End.WAITING and ends.get(client.room) is not client.end:
            yield f"the client of room {client.room} is {client.end}"
