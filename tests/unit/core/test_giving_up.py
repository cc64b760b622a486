"""What a prefill worker does and says when decode gives a room up, in every state that it can be in (I3)."""

import pytest

from kvfence.core import decode_side, prefill_side
from kvfence.core import events as on
from kvfence.core.actions import PublishEpochs, ScrubPages, Send, StartHandoffTimer, StopWork
from kvfence.core.handoff import Over, Queued, Unknown, state_of
from kvfence.core.ids import Role, RoomId
from kvfence.core.rules import FENCED, Layer, Wire, only
from support.rooms_values import PAGE, digest, leases, offered, worker

HERE = RoomId(1)
ABORT = on.AbortReceived(room=HERE)
QUIET = Send(to=Role.DECODE, event=on.PeerQuiet(room=HERE))
STOP = StopWork(room=HERE)
STORY = (
    on.ReservationReceived(room=HERE, leases=leases(1, "A", 2)),
    offered(1, "A"),
    on.PromptComputed(room=HERE),
    on.PagesDigested(room=HERE, digests=(digest(0), digest(1))),
)


def after(steps, kind=Wire.PUSH):
    prefill = worker(Role.PREFILL, 4, FENCED, kind)
    for event in STORY[:steps]:
        prefill, _ = prefill_side.step(prefill, event)
    return prefill


@pytest.mark.parametrize(
    ("steps", "kind", "state", "actions"),
    [
        (0, Wire.PUSH, Unknown, (QUIET,)),
        (1, Wire.PUSH, prefill_side.Announced, (QUIET,)),
        (2, Wire.PUSH, prefill_side.Computing, (STOP, QUIET)),
        (3, Wire.PUSH, prefill_side.Attesting, (STOP, QUIET)),
        (4, Wire.PULL, prefill_side.Held, (STOP, QUIET)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_while_nothing_can_land_decode_is_told_at_once(steps, kind, state, actions):
    """Work stops first, then decode hears that all is quiet; the pages are back."""
    before = after(steps, kind)
    assert isinstance(state_of(before, HERE), state)
    ended, did = prefill_side.step(before, ABORT)
    assert did == actions
    assert isinstance(state_of(ended, HERE), Over)
    assert ended.pool.free_pages + len(ended.prefixes) == 4
    assert prefill_side.step(ended, ABORT) == (ended, (QUIET,))


def test_an_offer_without_a_reservation_is_given_up_at_once():
    """Nothing was posted for it."""
    prefill, _ = prefill_side.step(worker(Role.PREFILL, 4), offered(1, "A"))
    assert prefill_side.step(prefill, ABORT)[1] == (QUIET,)


def test_while_writes_are_posted_decode_is_told_only_when_they_have_landed():
    """The source pages are kept until then as well."""
    sending = after(4)
    draining, did = prefill_side.step(sending, ABORT)
    assert did == (STOP,)
    assert isinstance(state_of(draining, HERE), prefill_side.Draining)
    assert draining.pool.free_pages == 2
    ended, did = prefill_side.step(draining, on.WritesLanded(room=HERE))
    assert (did, ended.pool.free_pages) == ((QUIET,), 4)


def test_decode_publishes_clears_reserves_and_starts_its_timer_in_this_order():
    """I4, then I5, before prefill knows where to write; all pages of it, the first too."""
    decode, _ = decode_side.step(worker(Role.DECODE, 4), offered(1, "A", tokens=3 * PAGE))
    decode, _ = decode_side.step(decode, on.RequestRefused(room=HERE, refusal=None))
    decode, actions = decode_side.step(decode, offered(2, "B", tokens=2 * PAGE))
    reserved = state_of(decode, RoomId(2))
    both = reserved.prompt.followed_by(reserved.answer)
    assert actions == (
        PublishEpochs(leases=both),
        ScrubPages(pages=both.pages),
        Send(to=Role.PREFILL, event=on.ReservationReceived(room=RoomId(2), leases=reserved.prompt)),
        StartHandoffTimer(room=RoomId(2)),
    )


def reserved(room, pages):
    return on.ReservationReceived(room=RoomId(room), leases=leases(room, "A", pages))


def test_nobody_overtakes_at_prefill():
    """A room that would fit waits behind one that does not, and both get their turn in order."""
    prefill = worker(Role.PREFILL, 4)
    for room, pages in ((1, 3), (2, 3), (3, 1)):
        prefill, _ = prefill_side.step(prefill, offered(room, "A", tokens=pages * PAGE))
        prefill, _ = prefill_side.step(prefill, reserved(room, pages))
    assert [type(state_of(prefill, RoomId(room))) for room in (2, 3)] == [Queued, Queued]
    prefill, _ = prefill_side.step(prefill, ABORT)
    computing = prefill_side.Computing
    assert [type(state_of(prefill, RoomId(room))) for room in (2, 3)] == [computing, computing]


def test_nobody_overtakes_at_decode():
    """The same at the other side."""
    decode = worker(Role.DECODE, 4)
    for room, pages in ((1, 2), (2, 3), (3, 1)):
        decode, _ = decode_side.step(decode, offered(room, "A", tokens=pages * PAGE, new=0))
    assert [type(state_of(decode, RoomId(room))) for room in (2, 3)] == [Queued, Queued]
    decode, _ = decode_side.step(decode, on.RequestRefused(room=HERE, refusal=None))
    waits = [type(state_of(decode, RoomId(room))) for room in (2, 3)]
    assert waits == [decode_side.Reserved, decode_side.Reserved]


@pytest.mark.parametrize(("rules", "goes_on"), [(only(), True), (only(Layer.COUNT), False)], ids=["none", "count"])
def test_without_the_count_prefill_computes_for_whatever_was_reserved(rules, goes_on):
    """As engines do: what fits is sent. With the count it is a fault before anything is computed."""
    prefill, _ = prefill_side.step(worker(Role.PREFILL, 4, rules), offered(1, "A", tokens=3 * PAGE))
    prefill, _ = prefill_side.step(prefill, reserved(1, 2))
    assert isinstance(state_of(prefill, HERE), prefill_side.Computing) is goes_on


def test_the_longest_prompt_that_fits_shares_as_any_other():
    """At the limit, not over it."""
    prefill = worker(Role.PREFILL, 4)
    for room in (1, 2):
        prefill, _ = prefill_side.step(prefill, offered(room, "A", tokens=4 * PAGE, story="told twice"))
        prefill, _ = prefill_side.step(prefill, reserved(room, 4))
        if room == 1:
            for event in (on.PromptComputed(room=HERE), ABORT):
                prefill, _ = prefill_side.step(prefill, event)
    assert state_of(prefill, RoomId(2)).shared == 3
