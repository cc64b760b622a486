"""The decode worker's driver: receives pages, generates for all its sequences in turn. It decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from kvfence.cell.config import CellConfig
from kvfence.cell.driver import Driver, Plumbing
from kvfence.cell.frames import Work
from kvfence.cell.sequences import Sequence
from kvfence.cell.taint import Oracle
from kvfence.core import decode_side
from kvfence.core import events as on
from kvfence.core.actions import Action, ApplyWrite, DropWrite, PullPages, StartDecoding, StartHandoffTimer, StopWork
from kvfence.core.ids import Role, RoomId
from kvfence.core.invariants import Check, Violation
from kvfence.core.wire import WireError


@dataclass(slots=True)
class _Asked:
    """What the router sent for a room, kept until the room ends."""

    tenant: str
    work: Work
    sequence: Sequence | None = field(default=None)


class DecodeDriver(Driver):
    """Continuous batching: each round gives every sequence one token; rooms come and go between rounds."""

    def __init__(self, config: CellConfig, plumbing: Plumbing) -> None:
        super().__init__(Role.DECODE, decode_side.step, config, plumbing)
        self._asked: dict[RoomId, _Asked] = {}
        self._arrived: bytes = b""
        self._piece: bytes = b""
        if config.oracle is Oracle.RECORD:
            self._count_foreign(tokens=0, answers=0)

    def keep(self, event: on.Event, payload: bytes) -> None:
        """An offer brings prompt and stops; a two-sided write brings pages, which lie nowhere until core says where."""
        if isinstance(event, on.RequestOffered) and event.room not in self.worker.over:
            self._asked[event.room] = _Asked(event.tenant, Work.offered(event, payload))
        elif isinstance(event, on.PagesOffered):
            expected = self.store.message_bytes(len(event.leases))
            if len(payload) != expected:
                raise WireError(f"{len(event.leases)} pages are {expected} bytes, and {len(payload)} came")
            self._arrived = payload

    def forget(self, room: RoomId) -> None:
        """Drop prompt and sequence."""
        self._asked.pop(room, None)

    def perform(self, action: Action) -> None:
        """Carry out what only decode is asked for."""
        match action:
            case StartDecoding():
                asked = self._asked[action.room]
                asked.sequence = Sequence(action, asked.work, asked.tenant)
            case ApplyWrite():
                self.store.write_pages(action.pages, self._arrived)
            case DropWrite():
                self.count("writes_dropped_total", check=action.check)
            case PullPages():
                epochs = self.wire.read(action.room, action.source, action.target)
                if epochs is not None:
                    self.happen(on.PagesPulled(room=action.room, epochs_after=epochs))
            case StartHandoffTimer():
                self.later(self.config.handoff_timeout_s, on.HandoffTimedOut(room=action.room))
            case StopWork():
                self.forget(action.room)
            case _:
                raise Violation(Check.ILLEGAL_EVENT, f"decode cannot {type(action).__name__}")

    def work(self) -> bool:
        """One token for every sequence."""
        running = [(room, asked.sequence) for room, asked in self._asked.items() if asked.sequence is not None]
        for room, sequence in running:
            self._advance(room, sequence)
        return bool(running)

    def _advance(self, room: RoomId, sequence: Sequence) -> None:
        before = sequence.foreign_reads
        piece = sequence.advance(self.store)
        self.count("tokens_decoded_total")
        if sequence.foreign_reads > before:
            self._count_foreign(tokens=1, answers=0 if before else 1)
        if piece:
            self.happen_tokens(room, piece)
        if sequence.reason is not None:
            ended = on.AnswerEnded(
                room=room,
                reason=sequence.reason,
                prompt_tokens=sequence.prompt_tokens,
                completion_tokens=sequence.completion_tokens,
                cached_tokens=sequence.cached_tokens,
            )
            self.happen(ended)

    def _count_foreign(self, *, tokens: int, answers: int) -> None:
        """What a recording oracle sees, for `/metrics`: nought is not the same as nobody looking."""
        self.count("foreign_tokens_total", tokens)
        self.count("foreign_answers_total", answers)

    def happen_tokens(self, room: RoomId, piece: bytes) -> None:
        """Tokens go out only if core's room is decoding; they travel beside the event."""
        self._piece = piece
        self.happen(on.TokensDecoded(room=room, count=len(piece)))

    def send(self, to: Role, event: on.Event, payload: bytes = b"") -> None:
        """Tokens leave with their event."""
        super().send(to, event, self._piece if isinstance(event, on.TokensDecoded) else payload)
