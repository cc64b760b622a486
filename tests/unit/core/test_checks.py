"""Every check is really produced: raised, returned, sent or counted. A registry of ways, each run."""

from dataclasses import replace

import pytest

from kvfence.core import decode_side
from kvfence.core import events as on
from kvfence.core.actions import CountCheck, DropWrite, Send
from kvfence.core.admission import Admitted, Capacity
from kvfence.core.handoff import state_of
from kvfence.core.ids import Epoch, Role, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Draining, Move, Sealed, moved
from kvfence.core.manifest import Expectation
from kvfence.core.page_table import seal
from kvfence.core.pool import check_conservation, empty_pool
from kvfence.core.rules import FENCED, Wire
from support.rooms_values import LAYOUT, PAGE, digest, leases, manifest, offered, worker

HERE = RoomId(1)
HELD = leases(1, "A", 2)
DIGESTS = (digest(0), digest(1))


def raised(call):
    with pytest.raises(Violation) as caught:
        call()
    assert str(caught.value).startswith(f"{caught.value.check}: ")
    return {caught.value.check}


def sealing(made):
    expected = Expectation(leases=HELD, prompt_tokens=2 * PAGE, layout=LAYOUT, leases_are_echoed=True)
    return {seal(made, expected, DIGESTS, FENCED).check}


def counted(kind, *events):
    """What decode counts for the last of these events, and what it tells the router: the same (I8)."""
    decode = worker(Role.DECODE, 8, FENCED, kind)
    for event in (offered(1, "A"), *events):
        decode, actions = decode_side.step(decode, event)
    told = {
        action.event.check
        for action in actions
        if isinstance(action, Send) and isinstance(action.event, on.RequestFaulted) and action.to is Role.ROUTER
    }
    checks = {action.check for action in actions if isinstance(action, CountCheck)}
    assert told == checks
    return checks


def stale_write():
    decode, _ = decode_side.step(worker(Role.DECODE, 8, FENCED, Wire.TWO_SIDED), offered(1, "A"))
    _, actions = decode_side.step(decode, on.PagesOffered(room=HERE, leases=leases(1, "A", 2, epoch=0)))
    return {action.check for action in actions if isinstance(action, DropWrite)}


def pulled_under_another_epoch():
    came = on.ManifestReceived(room=HERE, manifest=manifest(HELD, digests=DIGESTS))
    return counted(Wire.PULL, came, on.PagesPulled(room=HERE, epochs_after=(Epoch(1), Epoch(2))))


WAYS = {
    Check.ADMISSION: lambda: raised(lambda: offered(1, tokens=0)),
    Check.COUNT: lambda: sealing(manifest(HELD, tokens=2 * PAGE - 1, digests=DIGESTS)),
    Check.BINDING: lambda: sealing(manifest(replace(HELD, room=RoomId(2)), digests=DIGESTS)),
    Check.DIGEST: lambda: sealing(manifest(HELD, digests=(digest(0), digest(2)))),
    Check.STALE_WRITER: stale_write,
    Check.STALE_READER: pulled_under_another_epoch,
    Check.SHARING: lambda: raised(lambda: moved(Sealed(TenantId("B")), Move.SHARE, by=HELD)),
    Check.LIMIT: lambda: raised(lambda: Capacity(pool_tokens=1, context_tokens=9, page_size=2)),
    Check.CONSERVATION: lambda: raised(lambda: check_conservation(replace(empty_pool(2), free_order=()))),
    Check.ILLEGAL_EVENT: lambda: raised(
        lambda: decode_side.step(worker(Role.DECODE), on.PromptComputed(room=HERE)),
    ),
    Check.ILLEGAL_PAGE_MOVE: lambda: raised(lambda: moved(Draining(TenantId("A"), HERE), Move.SEAL, by=HELD)),
    Check.FORGED: lambda: raised(lambda: Admitted(8, 2, object())),
    Check.TIMED_OUT: lambda: counted(Wire.PUSH, on.HandoffTimedOut(room=HERE)),
    Check.WORKER_LOST: lambda: counted(Wire.PUSH, on.WorkerLost(room=HERE, worker=Role.PREFILL)),
}


@pytest.mark.parametrize("check", WAYS, ids=lambda check: check.name)
def test_each_check_speaks_when_its_fault_is_there(check):
    """This way produces this check and no other."""
    assert WAYS[check]() == {check}


def test_no_check_is_a_mere_name():
    """Every one has a way above."""
    assert set(Check) == set(WAYS)


def test_a_failed_check_holds_the_pages_back_under_its_own_name():
    """I8: quarantine says which check failed."""
    decode, _ = decode_side.step(worker(Role.DECODE, 8), offered(1, "A"))
    held = state_of(decode, HERE).prompt
    decode, _ = decode_side.step(decode, on.ManifestReceived(room=HERE, manifest=manifest(held, digests=DIGESTS)))
    decode, _ = decode_side.step(decode, on.PagesDigested(room=HERE, digests=(digest(0), digest(7))))
    assert {decode.pool.states[page].check for page in held.pages} == {Check.DIGEST}
