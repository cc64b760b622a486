"""Who is told what, and that a room which is left alone is answered."""

from dataclasses import replace

import pytest

from kvfence.core import decode_side, prefill_side, router_side
from kvfence.core import events as on
from kvfence.core.actions import AnswerClient, ApplyWrite, CountCheck, CountVerified, DropWrite, Send
from kvfence.core.admission import Rejected
from kvfence.core.handoff import Over, state_of
from kvfence.core.ids import Epoch, Role, RoomId, TenantId
from kvfence.core.invariants import Check
from kvfence.core.pool import Reuse
from kvfence.core.rules import FENCED, LEASE_EXPIRY, NO_DRAIN, PLACEHOLDER, Wire, only
from support.rooms import RoomWorld
from support.rooms_values import PAGE, capacity, digest, leases, manifest, offered, worker

HERE = RoomId(1)


def told(actions):
    """Role and kind of each message, in order."""
    return [(action.to, type(action.event)) for action in actions if isinstance(action, Send)]


@pytest.mark.parametrize("rules", [FENCED, PLACEHOLDER, NO_DRAIN, LEASE_EXPIRY, only()], ids=lambda rules: rules.name)
@pytest.mark.parametrize("reuse", Reuse)
@pytest.mark.parametrize("kind", Wire)
def test_rooms_that_fit_and_are_left_alone_are_all_answered_rightly(kind, reuse, rules):
    """More rooms than fit at once, two tenants, one story told by both: each gets its own text, every page is back."""
    world = RoomWorld(rules, kind, prefill_pages=8, decode_pages=16, reuse=reuse)
    for room in range(1, 25):
        world.ask(room, "AB"[room % 2], 1 + room % 7, new_tokens=1 + room % 6, story="told" if room % 3 else None)
    world.run()
    assert {type(end) for ends in world.ends.values() for end in ends} == {on.AnswerEnded}
    assert [len(world.ends[room]) for room in world.asked] == [1] * 24
    assert (world.store.leaks, world.store.wrong, world.checks) == ([], [], [])
    assert world.workers[Role.DECODE].pool.free_pages == 16


def test_every_sealed_room_is_counted_with_its_checks_and_none_without():
    """The positive record names what was checked; under the historical rules there is none."""
    for rules, records in ((FENCED, ["I2-count,I2-digest"]), (PLACEHOLDER, [])):
        decode, _ = decode_side.step(worker(Role.DECODE, 8, rules), offered(1, "A"))
        held = state_of(decode, HERE).prompt
        digests = tuple(digest(page) for page in held.pages)
        decode, actions = decode_side.step(
            decode, on.ManifestReceived(room=HERE, manifest=manifest(held, digests=digests))
        )
        if rules is FENCED:
            decode, actions = decode_side.step(decode, on.PagesDigested(room=HERE, digests=digests))
        assert [action.checks for action in actions if isinstance(action, CountVerified)] == records


@pytest.mark.parametrize(("prompt", "new", "refused"), [(16, 4, False), (17, 4, True), (16, 5, True), (20, 0, False)])
def test_the_router_refuses_what_is_longer_than_it_advertises(prompt, new, refused):
    """Prompt and answer together, exact to the token, with both figures (I7); nobody else hears of it."""
    router = router_side.Router(advertised_tokens=20, rules=FENCED)
    asked = on.ClientAsked(room=HERE, tenant=TenantId("A"), prompt_tokens=prompt, max_new_tokens=new)
    after, actions = router_side.step(router, asked)
    if refused:
        refusal = Rejected(asked_tokens=prompt + new, usable_tokens=20, gate=Role.ROUTER)
        assert actions == (AnswerClient(event=on.RequestRefused(room=HERE, refusal=refusal)),)
        assert len(after.rooms) == 0
    else:
        assert told(actions) == [(Role.PREFILL, on.RequestOffered), (Role.DECODE, on.RequestOffered)]


@pytest.mark.parametrize("asked_before", [False, True])
def test_the_limit_promised_follows_what_was_measured_and_only_downwards(asked_before):
    """I7, whether the room is still open or not; without I1 the context stays the promise, as engines have it."""
    for rules, promised in ((FENCED, 12), (only(), 20)):
        router = router_side.Router(advertised_tokens=20, rules=rules)
        if asked_before:
            asked = on.ClientAsked(room=HERE, tenant=TenantId("A"), prompt_tokens=8, max_new_tokens=4)
            router, _ = router_side.step(router, asked)
        rooms = router.rooms
        for usable, expected in ((12, promised), (16, promised)):
            router, actions = router_side.step(router, on.LimitMeasured(room=HERE, usable_tokens=usable))
            assert (router.advertised_tokens, actions, router.rooms) == (expected, (), rooms)
        after, _ = router_side.step(
            router, on.ClientAsked(room=RoomId(9), tenant=TenantId("A"), prompt_tokens=13, max_new_tokens=0)
        )
        assert (RoomId(9) in after.rooms) is (promised >= 13)


@pytest.mark.parametrize("rules", [FENCED, only()], ids=lambda rules: rules.name)
def test_the_router_passes_every_end_on_and_cancels_what_may_still_run(rules):
    """A refusal is told to both workers where I1 is on; a fault, a lost worker and a hang-up always are."""
    asked = on.ClientAsked(room=HERE, tenant=TenantId("A"), prompt_tokens=8, max_new_tokens=4)
    open_, _ = router_side.step(router_side.Router(advertised_tokens=20, rules=rules), asked)
    both = [(Role.PREFILL, on.ClientGone), (Role.DECODE, on.ClientGone)]
    refusal = Rejected(asked_tokens=999, usable_tokens=64, gate=Role.PREFILL)
    ends = {
        on.RequestRefused(room=HERE, refusal=refusal): both if rules is FENCED else [],
        on.RequestFaulted(room=HERE, check=Check.COUNT, message=""): both,
        on.AnswerEnded(room=HERE, reason="stop", prompt_tokens=8, completion_tokens=1, cached_tokens=0): [],
    }
    for end, messages in ends.items():
        after, actions = router_side.step(open_, end)
        assert (actions[0], told(actions), len(after.rooms)) == (AnswerClient(event=end), messages, 0)
    after, actions = router_side.step(open_, on.ClientGone(room=HERE))
    assert (told(actions), len(actions), len(after.rooms)) == (both, 2, 0)
    after, actions = router_side.step(open_, on.WorkerLost(room=HERE, worker=Role.DECODE))
    gone = on.RequestFaulted(room=HERE, check=Check.WORKER_LOST, message="decode is gone")
    assert (actions[0], told(actions), len(after.rooms)) == (AnswerClient(event=gone), both, 0)
    after, actions = router_side.step(open_, on.TokensDecoded(room=HERE, count=3))
    assert (actions, after) == ((AnswerClient(event=on.TokensDecoded(room=HERE, count=3)),), open_)


def test_a_worker_that_refuses_tells_both_others():
    """Whichever side it is: no room waits for a peer that has refused."""
    long = offered(1, "A", tokens=17 * PAGE)
    refused = on.RequestRefused
    _, actions = prefill_side.step(worker(Role.PREFILL), long)
    assert told(actions) == [(Role.ROUTER, refused), (Role.DECODE, refused)]
    _, actions = decode_side.step(worker(Role.DECODE), long)
    assert told(actions) == [(Role.ROUTER, refused), (Role.PREFILL, refused)]


def test_a_reservation_of_another_length_ends_the_room_at_prefill_and_both_others_are_told():
    """I2 before anything is computed: counted, told, nothing held."""
    prefill, _ = prefill_side.step(worker(Role.PREFILL), offered(1, "A", tokens=3 * PAGE))
    prefill, actions = prefill_side.step(prefill, on.ReservationReceived(room=HERE, leases=leases(1, "A", 2)))
    assert told(actions) == [(Role.ROUTER, on.RequestFaulted), (Role.DECODE, on.RequestFaulted)]
    assert [action.check for action in actions if isinstance(action, CountCheck)] == [Check.COUNT]
    assert isinstance(state_of(prefill, HERE), Over)
    assert prefill.pool.free_pages == 16


def test_a_two_sided_write_is_applied_once_its_room_waits_for_it_and_never_after():
    """I3: into pages that are filling, of this room, under these epochs, before the manifest."""
    decode, _ = decode_side.step(worker(Role.DECODE, 8, FENCED, Wire.TWO_SIDED), offered(1, "A"))
    decode, _ = decode_side.step(decode, offered(2, "B"))
    own, others = (state_of(decode, RoomId(room)).prompt for room in (1, 2))
    dropped = (DropWrite(room=HERE, check=Check.STALE_WRITER),)
    for target, actions in {
        own: (ApplyWrite(pages=own.pages),),
        own.first(1): (ApplyWrite(pages=own.pages[:1]),),
        others: dropped,
        replace(others, room=HERE): dropped,
        replace(own, epochs=(Epoch(0), Epoch(1))): dropped,
        own.followed_by(others): dropped,
        replace(own, pages=state_of(decode, HERE).answer.pages, epochs=(Epoch(1),)): dropped,
    }.items():
        assert decode_side.step(decode, on.PagesOffered(room=HERE, leases=target))[1] == actions
    came = on.ManifestReceived(room=HERE, manifest=manifest(own, digests=tuple(map(digest, own.pages))))
    decode, _ = decode_side.step(decode, came)
    assert decode_side.step(decode, on.PagesOffered(room=HERE, leases=own))[1] == dropped


def test_a_stale_read_says_how_many_pages_had_changed_hands():
    """I4's message has both counts, and whatever comes of it, prefill hears that the read is over."""
    decode, _ = decode_side.step(worker(Role.DECODE, 8, FENCED, Wire.PULL), offered(1, "A", tokens=3 * PAGE))
    source = leases(1, "A", 3, epoch=5)
    decode, _ = decode_side.step(
        decode, on.ManifestReceived(room=HERE, manifest=manifest(source, digests=(digest(0),) * 3))
    )
    _, actions = decode_side.step(decode, on.PagesPulled(room=HERE, epochs_after=(Epoch(5), Epoch(6), Epoch(5))))
    (counted,) = [action for action in actions if isinstance(action, CountCheck)]
    assert counted.message == "I4: expected 3 source pages under their epochs, got 2 of them"
    assert told(actions)[0] == (Role.PREFILL, on.ReadEnded)


def test_what_is_left_beside_quarantined_pages_is_told_to_the_token():
    """The reserve counts, and the context is a limit as ever; it is never below nothing."""
    for quarantined, reserve, context, usable in ((4, 3, 400, 29), (4, 3, 20, 20), (12, 0, 400, 0), (12, 3, 400, 0)):
        decode = replace(worker(Role.DECODE, 12), capacity=capacity(12, context, reserve))
        for room in range(quarantined):
            here = RoomId(100 + room)
            decode, _ = decode_side.step(decode, offered(100 + room, "A", tokens=PAGE, new=0))
            held = state_of(decode, here).prompt
            decode, _ = decode_side.step(decode, on.ManifestReceived(room=here, manifest=manifest(held)))
            decode, _ = decode_side.step(decode, on.PagesDigested(room=here, digests=()))
        refusal = decode_side._only_with_quarantined(decode, 9 * PAGE)
        assert refusal == Rejected(asked_tokens=9 * PAGE, usable_tokens=usable, gate=Role.DECODE)
