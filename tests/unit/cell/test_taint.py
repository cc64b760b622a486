import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kvfence.cell import taint
from kvfence.cell.taint import NO_TAINT, NoTaint, Oracle, TaintError, TaintShadow

PAGES, PAGE_SIZE = 5, 3
TENANTS = st.sampled_from(["alice", "bob", "carol"])
TABLES = st.lists(st.integers(0, PAGES - 1), min_size=1, max_size=PAGES, unique=True)


class Shadows(RuleBasedStateMachine):
    """Two shadows beside two dicts from slot to tenant."""

    def __init__(self) -> None:
        super().__init__()
        self.shadows = [TaintShadow.private(PAGES, PAGE_SIZE) for _ in range(2)]
        self.models = [{}, {}]

    @rule(side=st.integers(0, 1), table=TABLES, tenant=TENANTS, data=st.data())
    def write(self, side, table, tenant, data):
        stop = data.draw(st.integers(0, len(table) * PAGE_SIZE))
        start = data.draw(st.integers(0, stop))
        self.shadows[side].wrote(table, start, stop, tenant)
        for slot in range(start, stop):
            self.models[side][table[slot // PAGE_SIZE], slot % PAGE_SIZE] = tenant

    @rule(side=st.integers(0, 1), page_ids=TABLES)
    def scrub(self, side, page_ids):
        self.shadows[side].scrubbed(page_ids)
        self.models[side] = {place: who for place, who in self.models[side].items() if place[0] not in page_ids}

    @rule(
        side=st.integers(0, 1), pairs=st.permutations(range(PAGES)), count=st.integers(1, PAGES), travel=st.booleans()
    )
    def copy(self, side, pairs, count, travel):
        source_ids, own_ids = list(pairs[:count]), list(range(count))
        source, own = self.shadows[1 - side], self.shadows[side]
        if travel:
            own.unpacked(own_ids, source.packed(source_ids))
        else:
            own.copied(source, source_ids, own_ids)
        for source_page, own_page in zip(source_ids, own_ids, strict=True):
            for slot in range(PAGE_SIZE):
                self.models[side].pop((own_page, slot), None)
                if (source_page, slot) in self.models[1 - side]:
                    self.models[side][own_page, slot] = self.models[1 - side][source_page, slot]

    @rule(side=st.integers(0, 1), table=TABLES, tenant=TENANTS, data=st.data())
    def read(self, side, table, tenant, data):
        length = data.draw(st.integers(0, len(table) * PAGE_SIZE))
        places = [(table[slot // PAGE_SIZE], slot % PAGE_SIZE) for slot in range(length)]
        foreign = [place for place in places if self.models[side].get(place, tenant) != tenant]
        if not foreign:
            self.shadows[side].read(table, length, tenant)
            return
        page, slot = foreign[0]
        with pytest.raises(TaintError, match=rf"^{len(foreign)} slots .* slot {slot} of page {page}\b"):
            self.shadows[side].read(table, length, tenant)

    @invariant()
    def owners_are_those_of_the_model(self):
        for shadow, model in zip(self.shadows, self.models, strict=True):
            assert shadow.owners(range(PAGES)) == [model.get((page, 0), "") for page in range(PAGES)]


TestShadows = Shadows.TestCase
TestShadows.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_a_foreign_read_names_places_and_numbers_and_never_a_tenant():
    """A tenant may be a customer's key."""
    shadow = TaintShadow.private(PAGES, PAGE_SIZE)
    shadow.wrote([4], 1, 2, "sk-alice")
    with pytest.raises(TaintError, match="slot 1 of page 4") as met:
        shadow.read([4], 2, "sk-bob")
    assert "alice" not in str(met.value)
    assert "bob" not in str(met.value)


def test_a_recording_oracle_lets_the_read_go_on_and_notes_it():
    """What it saw, and whose pages they were that were read first."""
    shadow = TaintShadow.private(PAGES, PAGE_SIZE, Oracle.RECORD)
    shadow.wrote([0], 0, 3, "bob")
    shadow.wrote([1], 0, 3, "alice")
    shadow.read([0, 1, 2], 9, "bob")
    shadow.scrubbed([1])
    shadow.read([0, 1, 2], 9, "bob")
    assert shadow.foreign_reads == 1
    assert shadow.owners_of_first_read("bob") == ["bob", "alice", ""]
    assert shadow.owners_of_first_read("carol") == []


@settings(deadline=None)
@given(TABLES, st.integers(0, PAGES * PAGE_SIZE))
def test_the_oracle_that_is_off_knows_nothing(table, length):
    """It refuses nothing, carries nothing and owns nothing."""
    NO_TAINT.wrote(table, 0, length, "alice")
    NO_TAINT.read(table, length, "bob")
    assert NO_TAINT.packed(table) == b""
    assert NO_TAINT.owners(table) == [""] * len(table)


def test_both_oracles_answer_to_the_same_calls():
    """Switching it on changes no driver."""
    for name, function in inspect.getmembers(taint.Taint, inspect.isfunction):
        if not name.startswith("_"):
            for kind in (NoTaint, TaintShadow):
                assert inspect.signature(getattr(kind, name)) == inspect.signature(function)


def test_the_oracle_shares_no_code_with_core():
    """What it says of core's work would be worth nothing otherwise."""
    assert "kvfence.core" not in inspect.getsource(taint)
