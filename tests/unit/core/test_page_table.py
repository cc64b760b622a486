"""Sealing, and that nothing else leads to a page table (I2, I5)."""

import dataclasses

import pytest

from kvfence.core.admission import admit
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.invariants import Check, Mismatch, Violation
from kvfence.core.lease import Move
from kvfence.core.manifest import Expectation
from kvfence.core.page_table import PageTable, Seal, page_table, seal
from kvfence.core.pool import empty_pool, lease, move
from kvfence.core.rules import FENCED, Layer, only
from support.rooms_values import LAYOUT, PAGE, capacity, digest, leases, manifest

HELD = leases(1, "A", 3)
OWN = leases(1, "A", 2, first=3)
DIGESTS = tuple(digest(page) for page in range(3))
RIGHT = manifest(HELD, digests=DIGESTS)


def admitted(pages):
    return admit(pages * PAGE, capacity(8), 8, gate=Role.DECODE, rules=FENCED)


def pool_with(*moves):
    """Three pages of room 1 and two behind them, after these moves of the three and of the two."""
    pool, held = lease(empty_pool(8), admitted(5), RoomId(1), TenantId("A"), 5)
    for first, how in moves:
        pool = move(pool, held.first(3) if first else held.after(3), how)
    return pool


READY = ((True, Move.FILL), (True, Move.SEAL), (False, Move.FILL))
ONE_PAGE = manifest(HELD.first(1), tokens=1, digests=DIGESTS[:1])
EXPECTED = Expectation(leases=HELD, prompt_tokens=3 * PAGE, layout=LAYOUT, leases_are_echoed=True)


def test_a_page_table_has_the_sealed_pages_then_the_rooms_own():
    """In order; readable is what was filled, not what was reserved."""
    table = page_table(seal(RIGHT, EXPECTED, DIGESTS, FENCED), OWN, pool_with(*READY))
    assert table.pages == (0, 1, 2, 3, 4)
    assert table.readable_tokens == 3 * PAGE


def test_the_seal_says_which_checks_were_made():
    """The positive record: those of I2 that the rules have on, none under the historical rules."""
    for layers in ((), (Layer.COUNT,), (Layer.DIGEST,), tuple(Layer)):
        checks = seal(RIGHT, EXPECTED, DIGESTS, only(*layers)).checks
        assert checks == {Layer.COUNT, Layer.DIGEST} & set(layers)


@pytest.mark.parametrize(
    ("layers", "outcome"),
    [
        ((Layer.COUNT,), Check.COUNT),
        ((Layer.DIGEST,), Check.DIGEST),
        ((Layer.CLEAN_PAGES,), 1),
        ((), 3 * PAGE),
    ],
    ids=["count", "digest", "clean pages", "none"],
)
def test_one_page_of_three_is_a_mismatch_or_as_readable_as_it_is_filled(layers, outcome):
    """The incident at the seal: refused by either half of I2, cut to one token by I5, read whole without them."""
    sealed = seal(ONE_PAGE, EXPECTED, DIGESTS, only(*layers))
    assert (sealed.check if isinstance(sealed, Mismatch) else sealed.readable_tokens) == outcome


def test_no_digests_taken_is_no_match():
    """Where digests are asked for, not looking is not passing."""
    assert seal(RIGHT, EXPECTED, None, only(Layer.DIGEST)).check is Check.DIGEST


def test_a_seal_does_not_carry_another_rooms_pages():
    """The pages behind the prompt are the same room's and the same tenant's."""
    sealed = seal(RIGHT, EXPECTED, DIGESTS, FENCED)
    for room, tenant in ((2, "A"), (1, "B")):
        with pytest.raises(Violation, match="I2-binding: pages of room"):
            page_table(sealed, leases(room, tenant, 2, first=3), pool_with(*READY))


@pytest.mark.parametrize(
    "moves",
    [
        ((True, Move.FILL), (False, Move.FILL)),
        (*READY, (True, Move.RELEASE)),
        (*READY, (True, Move.QUARANTINE)),
    ],
    ids=["never sealed", "given back", "held back"],
)
def test_a_seal_is_worth_nothing_when_the_pages_are_no_longer_sealed(moves):
    """A seal that somebody kept does not read what the pages hold by now."""
    with pytest.raises(Violation, match="I2-binding: the pages of room 1 are not, or no longer, sealed"):
        page_table(seal(RIGHT, EXPECTED, DIGESTS, FENCED), OWN, pool_with(*moves))


def test_a_seal_is_worth_nothing_when_another_room_of_the_tenant_has_its_pages():
    """Sealed again, for the same tenant, but under the next epoch."""
    pool = move(pool_with(*READY), HELD, Move.RELEASE)
    pool, again = lease(pool, admitted(3), RoomId(2), TenantId("A"), 3)
    pool = move(move(pool, again, Move.FILL), again, Move.SEAL)
    assert again.pages == HELD.pages
    with pytest.raises(Violation, match="no longer, sealed"):
        page_table(seal(RIGHT, EXPECTED, DIGESTS, FENCED), OWN, pool)


@pytest.mark.parametrize("own", [HELD, OWN], ids=["the sealed ones", "not being filled"])
def test_the_answer_is_written_only_into_the_rooms_own_unsealed_pages(own):
    """A token written into a sealed page would be in every table that shares it."""
    with pytest.raises(Violation, match="I2-binding: the answer's pages of room 1"):
        page_table(seal(RIGHT, EXPECTED, DIGESTS, FENCED), own, pool_with(*READY[:2]))


@pytest.mark.parametrize(
    "forge",
    [
        lambda: Seal(HELD, 3 * PAGE, frozenset(Layer), object()),
        lambda: PageTable(HELD.pages, 3 * PAGE, object()),
        lambda: PageTable(HELD.pages, 3 * PAGE, None),
    ],
)
def test_neither_can_be_made_by_hand(forge):
    """Only the functions that checked can make them."""
    with pytest.raises(Violation, match="forged-value"):
        forge()


def test_neither_can_be_stretched():
    """A proof for one length does not become a proof for another."""
    sealed = seal(RIGHT, EXPECTED, DIGESTS, FENCED)
    for proof in (sealed, page_table(sealed, OWN, pool_with(*READY))):
        with pytest.raises((TypeError, ValueError)):
            dataclasses.replace(proof, readable_tokens=99)
        with pytest.raises(dataclasses.FrozenInstanceError):
            proof.readable_tokens = 99
