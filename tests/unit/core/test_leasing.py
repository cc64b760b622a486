"""Clean leases, and a tenant's own computed pages again (I5, I6)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.core import events as on
from kvfence.core import prefill_side
from kvfence.core.actions import ComputePrompt, PublishEpochs, ScrubPages
from kvfence.core.admission import admit
from kvfence.core.ids import PageId, Role, RoomId, TenantId
from kvfence.core.invariants import Violation
from kvfence.core.lease import Free, Leases, Move, Sealed
from kvfence.core.leasing import (
    available_pages,
    clear_ahead,
    evict,
    forget_prefixes,
    held_by,
    lease_clean,
    remember_prefix,
    share_prefix,
)
from kvfence.core.pool import check_conservation, forget_tenants, move, tenants_left
from kvfence.core.rules import FENCED, only
from kvfence.core.tenant import PUBLIC, SEVERAL, may_be_a_client, may_share
from support.rooms import RoomWorld
from support.rooms_values import PAGE, leases, offered, prefix_keys, worker

A, B = TenantId("A"), TenantId("B")
KEYS = prefix_keys("told by both", 6)


def leased(prefill, room, tenant, pages, overwritten=0):
    admitted = admit(pages * PAGE, prefill.capacity, pages, gate=Role.PREFILL, rules=FENCED)
    return lease_clean(prefill, admitted, RoomId(room), tenant, pages, overwritten=overwritten)


def sealed(prefill, room, tenant, pages):
    """A room that has computed its pages."""
    prefill, held, _ = leased(prefill, room, tenant, pages)
    pool = move(move(prefill.pool, held, Move.FILL), held, Move.SEAL)
    return replace(prefill, pool=pool), held


def kept(prefill, room, tenant, pages):
    """The pages of a room that is over, kept by the index alone."""
    prefill, held = sealed(prefill, room, tenant, pages)
    prefill = remember_prefix(prefill, KEYS[:pages], held.pages, tenant)
    return replace(prefill, pool=move(prefill.pool, held, Move.RELEASE)), held


def holders(prefill, pages):
    return [state.holders if isinstance(state := prefill.pool.states[page], Sealed) else 0 for page in pages]


def test_a_tenant_gets_its_own_pages_again():
    """The longest run of keys that it has computed, held once more."""
    prefill, held = kept(worker(Role.PREFILL), 1, A, 3)
    sharing, pages = share_prefix(prefill, KEYS, RoomId(2), A)
    assert pages == held.pages
    assert holders(sharing, pages) == [2, 2, 2]
    assert share_prefix(prefill, KEYS[1:], RoomId(2), A)[1] == held.pages[1:]
    assert share_prefix(prefill, (*prefix_keys("another story", 1), *KEYS), RoomId(2), A)[1] == ()


def test_another_tenant_never_gets_them():
    """I6: the same keys, another tenant, nothing shared."""
    prefill, _ = kept(worker(Role.PREFILL), 1, A, 3)
    assert share_prefix(prefill, KEYS, RoomId(2), B) == (prefill, ())


def test_the_page_itself_refuses_another_tenant_too():
    """I6 on a second path: were the index wrong, the move would be a Violation."""
    prefill, held = kept(worker(Role.PREFILL), 1, A, 2)
    wrong = replace(prefill, prefixes=prefill.prefixes.with_((B, KEYS[0]), held.pages[0]))
    with pytest.raises(Violation, match="I6"):
        share_prefix(wrong, KEYS, RoomId(2), B)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4), st.booleans()), min_size=1, max_size=8))
def test_two_tenants_with_the_same_story_never_have_a_page_in_common(asks):
    """Whatever they ask in turn, a page that one computed is read by that one alone, and the accounts hold."""
    world = RoomWorld(prefill_pages=8, decode_pages=24)
    for room, (tenant, pages, to_the_end) in enumerate(asks, 1):
        world.ask(room, tenant, pages, story="told by both")
        if to_the_end:
            world.run()
        prefill = world.workers[Role.PREFILL]
        for (owner, _), page in prefill.prefixes.items():
            assert prefill.pool.states[page].tenant == owner
    world.run_out()
    assert (world.store.leaks, world.store.wrong) == ([], [])
    assert forget_prefixes(world.workers[Role.PREFILL]).pool.free_pages == 8


def test_a_prompt_that_begins_as_before_is_computed_from_where_it_differs():
    """The whole pages but the last are shared, and the figures say so."""
    world = RoomWorld(prefill_pages=8, decode_pages=24)
    for room in (1, 2):
        world.ask(room, "A", 4, story="told twice")
        world.run()
    assert [end.cached_tokens for room in (1, 2) for end in world.ends[room]] == [0, 3 * PAGE]
    assert world.store.wrong == []


def test_eviction_takes_the_oldest_that_nobody_reads_and_the_tail_of_a_run_first():
    """Shared pages stay; of a run the last page goes first, so that what is left is still a run."""
    prefill, first = kept(worker(Role.PREFILL, 6), 1, A, 3)
    prefill, second = sealed(prefill, 2, B, 3)
    prefill = remember_prefix(prefill, KEYS[:3], second.pages, B)  # room 2 still reads them
    assert (prefill.pool.free_pages, available_pages(prefill)) == (0, 3)
    one_gone = evict(prefill, 1)
    assert share_prefix(one_gone, KEYS, RoomId(3), A)[1] == first.pages[:2]
    all_gone = evict(prefill, 6)
    assert all_gone.pool.free_pages == 3
    assert share_prefix(all_gone, KEYS, RoomId(3), A)[1] == ()
    assert share_prefix(all_gone, KEYS, RoomId(3), B)[1] == second.pages
    assert leased(all_gone, 3, B, 3)[1].pages == first.pages  # and the next room has them in a row


def test_eviction_takes_no_more_than_is_missing():
    """Free pages are used before kept ones are given up."""
    prefill, held = kept(worker(Role.PREFILL, 6), 1, A, 3)
    assert evict(prefill, 3) == prefill
    assert share_prefix(evict(prefill, 4), KEYS, RoomId(2), A)[1] == held.pages[:2]


def test_holders_are_counted_one_by_one():
    """A page is free when the last reader and the index have let it go, in either order."""
    prefill, held = sealed(worker(Role.PREFILL), 1, A, 2)
    prefill = remember_prefix(prefill, KEYS[:2], held.pages, A)
    assert holders(prefill, held.pages) == [2, 2]
    again = remember_prefix(prefill, KEYS[:2], held.pages, A)
    assert holders(again, held.pages) == [2, 2]
    sharing, pages = share_prefix(prefill, KEYS[:1], RoomId(2), A)
    assert holders(sharing, held.pages) == [3, 2]
    assert forget_prefixes(sharing).prefixes == sharing.prefixes
    over = replace(sharing, pool=move(sharing.pool, held, Move.RELEASE))
    assert holders(over, held.pages) == [2, 1]
    gone = forget_prefixes(over)
    assert holders(gone, held.pages) == [2, 0]
    last = replace(gone, pool=move(gone.pool, held_by(gone, pages, RoomId(2), A), Move.RELEASE))
    assert holders(forget_prefixes(last), held.pages) == [0, 0]
    check_conservation(forget_prefixes(last).pool)


def test_every_lease_is_published_and_pages_that_change_tenant_are_cleared_before():
    """I5: the first time and from its own old pages, nothing needs clearing; from another's, all of it does."""
    _, held, actions = leased(worker(Role.PREFILL, 4), 1, A, 4)
    assert actions == (PublishEpochs(leases=held),)
    for tenant, cleared in ((A, ()), (B, (ScrubPages(pages=held.pages),))):
        free, own = sealed(worker(Role.PREFILL, 4), 1, A, 4)
        free = replace(free, pool=move(free.pool, own, Move.RELEASE))
        _, again, actions = leased(free, 2, tenant, 4)
        assert actions == (PublishEpochs(leases=again), *cleared)


def test_pages_given_back_before_they_were_sealed_are_cleared_for_everybody():
    """Whose text lies in them is not known: their holder may have written nothing yet."""
    prefill, held, _ = leased(worker(Role.PREFILL, 4), 1, A, 4)
    free = replace(prefill, pool=move(prefill.pool, held, Move.RELEASE))
    assert {free.pool.last_tenant(page) for page in held.pages} == {SEVERAL}
    for tenant in (A, B):
        assert tenants_left(free.pool, held.pages, tenant) == held.pages


def test_only_what_this_worker_overwrites_itself_stays_uncleared():
    """Full pages that prefill computes need no clearing; the last, perhaps in part, does."""
    free, own = sealed(worker(Role.PREFILL, 4), 1, A, 4)
    free = replace(free, pool=move(free.pool, own, Move.RELEASE))
    _, held, actions = leased(free, 2, B, 4, overwritten=3)
    assert actions[1:] == (ScrubPages(pages=held.pages[3:]),)


def test_without_i5_nothing_is_cleared():
    """What engines do."""
    free, own = sealed(worker(Role.PREFILL, 4, only()), 1, A, 4)
    free = replace(free, pool=move(free.pool, own, Move.RELEASE))
    _, held, actions = leased(free, 2, B, 4)
    assert actions == (PublishEpochs(leases=held),)
    assert clear_ahead(free, 4) == (free, ())


def test_clearing_ahead_takes_the_pages_that_are_handed_out_next_and_a_few_at_a_time():
    """A page cleared ahead needs no clearing when it changes tenant."""
    free, own = sealed(worker(Role.DECODE, 4), 1, A, 4)
    free = replace(free, pool=move(free.pool, own, Move.RELEASE))
    ahead, actions = clear_ahead(free, 3)
    assert actions == (ScrubPages(pages=(PageId(0), PageId(1), PageId(2))),)
    _, held, actions = leased(ahead, 2, B, 4)
    assert actions[1:] == (ScrubPages(pages=held.pages[3:]),)
    done, _ = clear_ahead(ahead, 3)
    assert clear_ahead(done, 3) == (done, ())


def test_prefill_clears_nothing_ahead():
    """It writes its full pages itself; clearing them before would be work for nothing."""
    free, own = sealed(worker(Role.PREFILL, 4), 1, A, 4)
    free = replace(free, pool=move(free.pool, own, Move.RELEASE))
    assert clear_ahead(free, 4) == (free, ())


def test_a_page_that_somebody_holds_is_not_cleared_ahead():
    """Clearing is for free pages."""
    prefill, held, _ = leased(worker(Role.PREFILL, 4), 1, A, 1)
    with pytest.raises(Violation, match="illegal-page-move"):
        forget_tenants(prefill.pool, held.pages)


def test_rights_taken_now_are_the_pages_of_now():
    """`held_by` reads the epochs of this moment."""
    prefill, held, _ = leased(worker(Role.PREFILL, 4), 1, A, 2)
    assert held_by(prefill, held.pages, RoomId(1), A) == held
    assert isinstance(held_by(prefill, (), RoomId(1), A), Leases)


def test_who_may_share_with_whom():
    """One's own and what is public; no client has a name that means all or several."""
    assert may_share(owner=A, reader=A)
    assert may_share(owner=PUBLIC, reader=A)
    assert not may_share(owner=A, reader=B)
    assert not may_share(owner=A, reader=PUBLIC)
    assert [may_be_a_client(tenant) for tenant in (A, PUBLIC, SEVERAL)] == [True, False, False]
    for tenant in (PUBLIC, SEVERAL):
        with pytest.raises(Violation, match="I6"):
            offered(1, tenant)


@pytest.mark.parametrize("figures", [{"tokens": 0}, {"tokens": -1}, {"new": -1}], ids=str)
def test_a_request_for_nothing_cannot_be_made(figures):
    """No manifest could ever attest it (I1)."""
    assert offered(1, tokens=1, new=0)
    with pytest.raises(Violation, match="I1"):
        offered(1, **figures)


def test_more_keys_than_pages_share_no_more_than_the_whole_pages():
    """A peer that sends too many keys gets no page that its prompt does not fill."""
    prefill, held = kept(worker(Role.PREFILL), 1, A, 4)
    ask = on.RequestOffered(room=RoomId(2), tenant=A, prompt_tokens=3 * PAGE - 1, max_new_tokens=1, prefix_keys=KEYS)
    prefill, _ = prefill_side.step(prefill, ask)
    target = leases(2, "A", 3)
    prefill, actions = prefill_side.step(prefill, on.ReservationReceived(room=RoomId(2), leases=target))
    (compute,) = [action for action in actions if isinstance(action, ComputePrompt)]
    assert compute.first_slot == 2 * PAGE
    assert compute.pages[:2] == held.pages[:2]
    assert isinstance(evict(prefill, 16).pool.states[held.pages[3]], Free)


def test_behind_a_shared_prefix_the_page_that_is_filled_in_part_is_still_cleared():
    """I5: shared pages are not counted among those that this worker overwrites whole."""
    prefill, _ = kept(worker(Role.PREFILL, 4), 1, A, 2)
    prefill, other = sealed(prefill, 2, B, 2)
    prefill = replace(prefill, pool=move(prefill.pool, other, Move.RELEASE))
    ask = offered(3, "A", tokens=3 * PAGE + 1, story="told by both")
    prefill, _ = prefill_side.step(prefill, ask)
    _, actions = prefill_side.step(prefill, on.ReservationReceived(room=RoomId(3), leases=leases(3, "A", 4)))
    (compute,) = [action for action in actions if isinstance(action, ComputePrompt)]
    assert compute.first_slot == 2 * PAGE
    assert [action for action in actions if isinstance(action, ScrubPages)] == [ScrubPages(pages=compute.pages[3:])]
