"""What a peer sends is not trusted: a false page number or a payload of the wrong size costs one message, no worker."""

import random
from dataclasses import replace

import pytest

from kvfence.cell.asks import Ask
from kvfence.cell.config import CellConfig
from kvfence.cell.documents import QUESTION, make_document
from kvfence.cell.frames import Frame, Work
from kvfence.cell.paged_kv import PagedKV
from kvfence.cell.stepped import SteppedCell
from kvfence.cell.taint import Oracle
from kvfence.cell.transports.local import LocalWire
from kvfence.core import events as on
from kvfence.core.ids import Epoch, PageId, Role, RoomId, TenantId
from kvfence.core.lease import Leases
from kvfence.core.rules import Wire

PAGE = 16
HERE = RoomId(1)
POOL = 64 * PAGE


def config_for(wire=Wire.PUSH):
    return CellConfig(
        prefill_pool_tokens=POOL,
        decode_pool_tokens=POOL,
        context_tokens=POOL,
        page_size=PAGE,
        wire=wire,
        chunk_tokens=8 * PAGE,
        oracle=Oracle.RAISE,
    )


def leases(*pages):
    return Leases(HERE, TenantId("A"), tuple(map(PageId, pages)), (Epoch(1),) * len(pages))


@pytest.fixture
def stores():
    config = config_for()
    return PagedKV.private(config, Role.PREFILL), PagedKV.private(config, Role.DECODE)


@pytest.mark.parametrize("pages", [(64,), (0, 1, 64), (1 << 62,), (-1,)])
def test_pages_that_the_peer_does_not_have_are_neither_read_nor_written(stores, pages):
    """No epochs come back, so nobody takes the read for a good one (I4); nothing at all is written."""
    own, peer = stores
    own.set_epochs((0,), (7,))
    wire = LocalWire(own, peer)
    target = [PageId(at) for at in range(len(pages))]
    before = peer.read_pages(range(64)), own.read_pages(range(64))
    assert wire.read(HERE, leases(*pages), target) == ()
    assert wire.write(HERE, target, leases(*pages))
    assert (peer.read_pages(range(64)), own.read_pages(range(64))) == before


def test_a_manifest_that_names_source_pages_beyond_the_pool_ends_that_request_alone():
    """Pull wire: the read finds no such pages, I4 speaks, and the next request is served."""
    cell = SteppedCell(config_for(Wire.PULL))
    rng = random.Random(4)
    prompts = [make_document(rng, 300, question=QUESTION).text.encode() for _ in range(2)]
    first = cell.ask(Ask(tenant="A", prompt=prompts[0], max_new_tokens=8))
    cell.turn(Role.DECODE)
    while cell.turn(Role.PREFILL):
        pass
    box = cell._boxes[Role.DECODE]
    mail = [box.get() for _ in range(box.qsize())]
    manifest = next(event.manifest for frame in mail if isinstance(event := frame.event(), on.ManifestReceived))
    beyond = replace(manifest.leases, pages=tuple(PageId(page + 64) for page in manifest.leases.pages))
    box.put(Frame.of(on.ManifestReceived(room=first, manifest=replace(manifest, leases=beyond))))
    cell.settle()
    assert cell.answers[first].end.check == "I4"
    second = cell.ask(Ask(tenant="B", prompt=prompts[1], max_new_tokens=8))
    cell.settle()
    assert isinstance(cell.answers[second].end, on.AnswerEnded)


@pytest.mark.parametrize("role", [Role.PREFILL, Role.DECODE])
@pytest.mark.parametrize("payload", [b"", b"\xc1", b"\x81", Work(b"abc").packed(), Work(b"x" * 41).packed()])
def test_an_offer_whose_payload_is_no_work_is_refused_and_counted(role, payload):
    """Nothing is reserved for it, and the worker goes on."""
    cell = SteppedCell(config_for())
    offer = on.RequestOffered(room=HERE, tenant=TenantId("A"), prompt_tokens=40, max_new_tokens=4)
    cell._boxes[role].put(Frame.of(offer, payload))
    cell.turn(role)
    driver = cell.drivers[role]
    assert driver.counts["messages_refused_total", (("error", "WireError"),)] == 1
    assert len(driver.worker.rooms) == 0


@pytest.mark.parametrize("share", [0.0, 0.5, 1.01])
def test_pages_whose_bytes_are_too_few_or_too_many_are_refused(share):
    """Two-sided wire: the message is counted, no page is written, and the worker goes on."""
    cell = SteppedCell(config_for(Wire.TWO_SIDED))
    prompt = make_document(random.Random(5), 300, question=QUESTION).text.encode()
    cell.ask(Ask(tenant="A", prompt=prompt, max_new_tokens=8))
    cell.turn(Role.DECODE)
    decode = cell.drivers[Role.DECODE]
    held = next(iter(decode.worker.rooms.values())).prompt
    before = decode.store.read_pages(range(64))
    whole = len(decode.store.read_pages(held.pages))
    cell._boxes[Role.DECODE].put(Frame.of(on.PagesOffered(room=held.room, leases=held), b"\1" * int(share * whole)))
    cell.turn(Role.DECODE)
    assert decode.counts["messages_refused_total", (("error", "WireError"),)] == 1
    assert decode.store.read_pages(range(64)) == before
