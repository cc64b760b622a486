"""Rooms that wait: for their turn, for a writer to be quiet, for their own read to end."""

import pytest

from kvfence.core import decode_side, prefill_side
from kvfence.core import events as on
from kvfence.core.actions import ComputePrompt, DropWrite, NoteRefusal, Send
from kvfence.core.admission import Rejected
from kvfence.core.handoff import Over, Queued, state_of
from kvfence.core.ids import Digest, Epoch, PageId, Role, RoomId
from kvfence.core.invariants import Check
from kvfence.core.rules import FENCED, PLACEHOLDER, Layer, Wire, only
from support.rooms import RoomWorld
from support.rooms_values import PAGE, leases, manifest, offered, worker


def reads_under_way():
    """Room 1 of tenant A is reading prefill's pages."""
    world = RoomWorld(FENCED, Wire.PULL, prefill_pages=12, decode_pages=6, hold_reads=True)
    world.ask(1, "A", 4)
    world.run()
    assert isinstance(state_of(world.workers[Role.DECODE], RoomId(1)), decode_side.Pulling)
    return world


@pytest.mark.parametrize("first", ["hang up", "worker lost"])
@pytest.mark.parametrize("message", ["worker lost", "manifest again", "quiet"])
def test_pages_that_an_own_read_still_writes_into_wait_for_its_end_and_nothing_else(first, message):
    """Whatever the peer says meanwhile: only the end of this worker's own read makes its target pages free."""
    world = reads_under_way()
    lost = on.WorkerLost(room=RoomId(1), worker=Role.PREFILL)
    world.happen(Role.DECODE, on.ClientGone(room=RoomId(1)) if first == "hang up" else lost)
    if message == "worker lost":
        world.happen(Role.DECODE, lost)
    elif message == "quiet":
        world.happen(Role.DECODE, on.PeerQuiet(room=RoomId(1)))
    else:
        world.deliver_again(Role.PREFILL, Role.DECODE)
    assert world.workers[Role.DECODE].pool.counts()["draining"] == 4
    world.end_read()
    world.run()
    assert world.workers[Role.DECODE].pool.free_pages == 6


def test_a_read_that_ends_late_never_lands_in_the_next_tenants_pages():
    """The same as a story: A's read ends after B was given all pages that were free."""
    world = reads_under_way()
    world.hang_up(1)
    world.run()
    world.happen(Role.DECODE, on.WorkerLost(room=RoomId(1), worker=Role.PREFILL))
    world.ask(2, "B", 4)
    world.run()
    world.end_read()
    world.hold_reads = False
    world.run_out()
    assert (world.store.leaks, world.store.wrong) == ([], [])
    assert isinstance(world.ends[2][0], on.AnswerEnded)


def with_quarantined(pages_held_back):
    """A decode worker of 12 pages, some of them held back after a failed check."""
    decode, _ = decode_side.step(worker(Role.DECODE, 12), offered(1, tokens=pages_held_back * PAGE, new=0))
    held = state_of(decode, RoomId(1)).prompt
    decode, _ = decode_side.step(decode, on.ManifestReceived(room=RoomId(1), manifest=manifest(held, digests=None)))
    if isinstance(state_of(decode, RoomId(1)), decode_side.Verifying):
        nothing = (Digest(bytes(16)),) * pages_held_back
        decode, _ = decode_side.step(decode, on.PagesDigested(room=RoomId(1), digests=nothing))
    assert decode.pool.counts() == {"quarantined": pages_held_back, "free": 12 - pages_held_back}
    return decode


def test_what_only_fits_with_pages_that_are_held_back_is_refused_and_does_not_block_the_queue():
    """Held-back pages come back by an operator only: waiting for them would stop everybody behind."""
    decode, actions = decode_side.step(with_quarantined(4), offered(2, "B", tokens=9 * PAGE, new=0))
    refusal = Rejected(asked_tokens=9 * PAGE, usable_tokens=8 * PAGE, gate=Role.DECODE)
    assert NoteRefusal(room=RoomId(2), prompt_tokens=9 * PAGE, refusal=refusal) in actions
    assert isinstance(state_of(decode, RoomId(2)), Over)
    decode, _ = decode_side.step(decode, offered(3, "B", tokens=8 * PAGE, new=0))
    assert isinstance(state_of(decode, RoomId(3)), decode_side.Reserved)
    decode, _ = decode_side.step(decode, offered(4, "B", tokens=8 * PAGE, new=0))
    assert isinstance(state_of(decode, RoomId(4)), Queued)


def test_who_waits_while_pages_become_held_back_is_refused_in_its_turn():
    """The first of the queue can no longer fit; it is told so, and the next one has its turn."""
    decode, _ = decode_side.step(worker(Role.DECODE, 12), offered(1, "A", tokens=4 * PAGE, new=0))
    for room, pages in ((2, 10), (3, 8)):
        decode, _ = decode_side.step(decode, offered(room, "B", tokens=pages * PAGE, new=0))
        assert isinstance(state_of(decode, RoomId(room)), Queued)
    held = state_of(decode, RoomId(1)).prompt
    bare = on.ManifestReceived(room=RoomId(1), manifest=manifest(held))
    decode, _ = decode_side.step(decode, bare)
    decode, actions = decode_side.step(decode, on.PagesDigested(room=RoomId(1), digests=()))
    told = {(type(action.event), action.event.room) for action in actions if isinstance(action, Send)}
    assert (on.RequestRefused, RoomId(2)) in told
    assert isinstance(state_of(decode, RoomId(2)), Over)
    assert isinstance(state_of(decode, RoomId(3)), decode_side.Reserved)


def test_a_placeholder_waits_for_a_page_of_its_own():
    """Without I1, an over-long prompt that shares pages which others use has none of them for its one token."""
    prefill = worker(Role.PREFILL, 2, PLACEHOLDER)
    for event in (
        offered(1, "A", tokens=2 * PAGE, story="told twice"),
        on.ReservationReceived(room=RoomId(1), leases=leases(1, "A", 2)),
        on.PromptComputed(room=RoomId(1)),
        offered(2, "A", tokens=4 * PAGE, story="told twice"),
        on.ReservationReceived(room=RoomId(2), leases=leases(2, "A", 4)),
    ):
        prefill, _ = prefill_side.step(prefill, event)
    assert isinstance(state_of(prefill, RoomId(2)), Queued)
    prefill, actions = prefill_side.step(prefill, on.WritesLanded(room=RoomId(1)))
    assert [action.tokens for action in actions if isinstance(action, ComputePrompt)] == [1]


@pytest.mark.parametrize("rules", [FENCED, PLACEHOLDER, only(Layer.COUNT)], ids=lambda rules: rules.name)
def test_a_write_that_names_pages_which_do_not_exist_is_dropped(rules):
    """Under every rule set: a page that is not there cannot be written."""
    decode, _ = decode_side.step(worker(Role.DECODE, 4, rules, Wire.TWO_SIDED), offered(1, "A"))
    _, (dropped,) = decode_side.step(decode, on.PagesOffered(room=RoomId(1), leases=leases(1, "A", 2, first=1000)))
    assert dropped == DropWrite(room=RoomId(1), check=Check.STALE_WRITER)


def test_holding_is_false_of_pages_that_do_not_exist():
    """A peer may name any number as a page."""
    pool = worker(Role.DECODE, 4).pool
    assert not pool.holds(leases(1, "A", 1, epoch=0, first=4))
    assert not pool.holds(leases(1, "A", 1, epoch=0, first=-1))
    assert pool.holds(leases(1, "A", 1, epoch=0, first=3))
    assert pool.epochs[PageId(3)] == Epoch(0)
