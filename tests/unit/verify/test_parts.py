from array import array

import pytest

from kvfence.core.rules import FENCED, Wire
from kvfence.verify.bound import ONE_PAGE, SMALL, Bound, Budget, spent
from kvfence.verify.circles import on_a_circle
from kvfence.verify.happenings import happenings
from kvfence.verify.kept import Shelf
from kvfence.verify.marks import NOBODY, aged, blank, digest_of, mark, read, story_of, tenant_of, write
from kvfence.verify.move import Kind
from kvfence.verify.tidy import tidied
from kvfence.verify.world import End, Setting, first_world


def test_equal_values_have_one_holder():
    """What is equal is kept once, and what differs is not mixed up."""
    shelf = Shelf()
    assert shelf.keep((1, 2)) is shelf.keep((1, 2))
    assert shelf.keep((1, 2)) is not shelf.keep((2, 1))
    assert len(shelf) == 2


def test_a_mark_says_whose_it_is_until_it_has_aged():
    """Tenant and story come out as they went in; of an old one only the tenant."""
    written = mark(1, 7, 3)
    assert (tenant_of(written), story_of(written)) == (1, 7)
    assert (tenant_of(aged(written)), story_of(aged(written))) == (1, 0)
    assert tenant_of(NOBODY) == -1


def test_slots_are_written_and_read_through_a_page_table():
    """Slot 3 of a table of pages 1 and 0 is the second of page 0; what is not written stays."""
    pages = write((blank(2),) * 2, (1, 0), 1, [5, 6, 7])
    assert pages == ((6, 7), (0, 5))
    assert read(pages, (1, 0), 3) == [0, 5, 6]
    assert digest_of(1, pages[0]) != digest_of(2, pages[0])
    assert digest_of(1, pages[0]) != digest_of(1, pages[1])


@pytest.mark.parametrize(
    ("count", "moves", "found"),
    [
        (1, [], None),
        (3, [0, 1, 1, 2, 0, 2], None),
        (2, [0, 1, 1, 0], 0),
        (4, [0, 1, 1, 2, 2, 1, 2, 3], 1),
        (2, [0, 0], 0),
    ],
)
def test_a_circle_of_moves_is_found(count, moves, found):
    """And a way that meets itself without a circle is none."""
    assert on_a_circle(count, array("q", moves)) == found


def test_a_fault_that_is_spent_is_gone_from_both_accounts():
    """Its own, and that of all faults together."""
    assert spent(Budget(1, hang_ups=2, faults=3), "hang_ups") == Budget(1, hang_ups=1, faults=2)


def test_a_bound_lets_somebody_ask():
    """Else every promise holds, of nothing."""
    with pytest.raises(ValueError, match="nobody"):
        Bound(name="none", budget=Budget(requests=0), shapes=(ONE_PAGE,))


def test_the_first_tenants_are_one_by_symmetry():
    """Whoever asks first is the first tenant; the second may be the same or another."""
    setting = Setting(FENCED, Wire.PUSH, SMALL)
    first = dict(happenings(first_world(setting), setting))
    assert {move.tenant for move in first} == {0}
    then = dict(happenings(next(iter(first.values()))(), setting))
    assert {move.tenant for move in then if move.kind is Kind.ASK} == {0, 1}


@pytest.mark.parametrize("wire", Wire)
def test_a_request_that_has_ended_leaves_only_whose_its_text_was(wire):
    """One request whose manifest comes last ends in a world that forgets it, with clean accounts."""
    setting = Setting(FENCED, wire, Bound(name="one", budget=Budget(requests=1), shapes=(ONE_PAGE,)))
    world, ends = first_world(setting), set()
    while moves := list(happenings(world, setting)):
        _, happen = min(moves, key=lambda happening: happening[0].event == "ManifestReceived")
        after = happen()
        ends |= {client.end for client in after.clients}
        world = tidied(after)
    assert End.ANSWERED in ends
    assert (world.clients, world.mail, world.work) == ((), (), ())
    assert set(world.decode.value.pool.epochs) == {0}
    assert {tenant_of(slot) for page in world.decode_pages for slot in page if slot} == {0}
    assert {story_of(slot) for page in world.decode_pages for slot in page} == {0}
