"""Whether a world keeps what was promised at every moment. Each check raises `Broken`, or does nothing.

What depends on few parts of a world is asked once for those parts.
"""

from __future__ import annotations

from functools import lru_cache

from kvfence.core import prefill_side
from kvfence.core.admission import Condemned
from kvfence.core.handoff import Worker
from kvfence.core.ids import PageId
from kvfence.core.invariants import Violation
from kvfence.core.lease import Filling, Leased
from kvfence.core.pool import check_conservation
from kvfence.core.rules import Layer
from kvfence.verify.kept import Kept
from kvfence.verify.marks import NOBODY, Page, read, tenant_of
from kvfence.verify.properties import Broken, Property
from kvfence.verify.world import TENANT_NAMES, Answering, Client, End, Reading, Setting, World


def check_now(world: World, setting: Setting) -> None:
    """What must hold at every moment."""
    _accounts_agree(world.prefill)
    _accounts_agree(world.decode)
    for job in world.work:
        if isinstance(job.value, Answering):
            _nothing_foreign_is_read(world, job.value, setting)
    if setting.rules.has(Layer.ADMISSION):
        _refusal_is_a_type(world.prefill)
    if setting.rules.has(Layer.CLEAN_PAGES):
        under_read = [page for job in world.work if isinstance(job.value, Reading) for page in job.value.target]
        _nothing_old_shows(world.decode, world.decode_pages, tuple(under_read))
    _sharing_stays_inside(world.prefill, world.prefill_pages, world.clients)
    _faults_are_loud(world.clients)


@lru_cache(maxsize=1 << 16)
def _accounts_agree(worker: Kept[Worker]) -> None:
    try:
        check_conservation(worker.value.pool)
    except Violation as violation:
        raise Broken(Property.CONSERVATION, str(violation)) from violation


def _nothing_foreign_is_read(world: World, answer: Answering, setting: Setting) -> None:
    """And, where it is attested (I2), nothing but the request's own prompt and answer."""
    client = world.client(answer.room)
    if client is None:
        raise Broken(Property.LOUD, f"room {answer.room} is answered, and its client has been forgotten")
    seen = read(world.decode_pages, answer.pages, answer.length)
    for slot, mark in enumerate(seen):
        if mark != NOBODY and tenant_of(mark) != client.tenant:
            owner, reader = TENANT_NAMES[tenant_of(mark)], TENANT_NAMES[client.tenant]
            what = f"room {answer.room} of tenant {reader} reads tenant {owner}'s text, in slot {slot} of its prompt"
            raise Broken(Property.FOREIGN_TEXT, what)
    attested = setting.rules.has(Layer.COUNT) and setting.rules.has(Layer.DIGEST)
    if attested and seen != client.marks(0, client.shape.prompt_tokens + client.shape.new_tokens):
        raise Broken(Property.SEAL, f"room {answer.room} reads other than its own prompt, whole and in order")


@lru_cache(maxsize=1 << 16)
def _refusal_is_a_type(prefill: Kept[Worker]) -> None:
    for room, state in prefill.value.rooms.items():
        if isinstance(state, prefill_side.Computing) and isinstance(state.admitted, Condemned):
            raise Broken(Property.REFUSAL, f"room {room} was refused, and runs")


@lru_cache(maxsize=1 << 16)
def _nothing_old_shows(decode: Kept[Worker], pages: tuple[Page, ...], under_read: tuple[PageId, ...]) -> None:
    """What decode's own read brings into a page is I4's, which looks at it when the read ends."""
    for page, state in enumerate(decode.value.pool.states):
        if isinstance(state, Leased | Filling) and page not in under_read:
            owners = {tenant_of(mark) for mark in pages[page] if mark != NOBODY}
            if any(TENANT_NAMES[owner] != state.tenant for owner in owners):
                raise Broken(Property.OLD_TEXT, f"page {page} of decode was leased with another tenant's text in it")


@lru_cache(maxsize=1 << 16)
def _sharing_stays_inside(prefill: Kept[Worker], pages: tuple[Page, ...], clients: tuple[Client, ...]) -> None:
    """A computing room's shared pages, by whose text is in them."""
    tenants = {client.room: client.tenant for client in clients}
    for room, state in prefill.value.rooms.items():
        if isinstance(state, prefill_side.Computing):
            for page in state.pages[: state.shared]:
                if {tenant_of(mark) for mark in pages[page]} != {tenants[room]}:
                    raise Broken(Property.SHARING, f"room {room} shares page {page} of prefill with another tenant")


@lru_cache(maxsize=1 << 16)
def _faults_are_loud(clients: tuple[Client, ...]) -> None:
    for client in clients:
        if client.failed_check and client.end is End.ANSWERED:
            raise Broken(Property.LOUD, f"a check failed for room {client.room}, and its client got an answer")
