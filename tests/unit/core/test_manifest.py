"""What prefill attests, and how each single deviation is found (I2)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.core.ids import Digest, Epoch, PageId, RoomId, TenantId
from kvfence.core.invariants import Check, Violation
from kvfence.core.lease import Leases
from kvfence.core.manifest import Expectation, Manifest, compare_counts, compare_digests
from support.rooms_strategies import manifests
from support.rooms_values import LAYOUT, PAGE, digest, leases, manifest

HELD = leases(1, "A", 3)
DIGESTS = tuple(digest(page) for page in range(3))
RIGHT = manifest(HELD, tokens=3 * PAGE - 1, digests=DIGESTS)
EXPECTED = Expectation(leases=HELD, prompt_tokens=3 * PAGE - 1, layout=LAYOUT, leases_are_echoed=True)


@given(st.integers(-3, 40), st.integers(-3, 9), st.integers(0, 9), st.none() | st.integers(0, 9))
def test_a_manifest_that_contradicts_itself_cannot_be_made(tokens, size, pages, digests):
    """Exactly those whose tokens lie in their pages, with a digest each or none at all, exist."""
    consistent = size > 0 and tokens > 0 and (pages - 1) * size < tokens <= pages * size and digests in (None, pages)

    def make():
        return Manifest(
            leases=leases(pages=pages),
            tokens=tokens,
            page_size=size,
            layout=LAYOUT,
            digests=None if digests is None else (digest("x"),) * digests,
        )

    if consistent:
        assert len(make().leases) == pages
    else:
        with pytest.raises(Violation, match="I2"):
            make()


def test_rights_without_their_epochs_cannot_be_made():
    """As many epochs as pages."""
    with pytest.raises(Violation, match="forged-value"):
        Leases(RoomId(1), TenantId("A"), (PageId(0), PageId(1)), (Epoch(1),))


@given(manifests())
def test_a_manifest_is_bound_to_the_room_and_tenant_of_its_leases(made):
    """It cannot name others."""
    assert (made.room, made.tenant) == (made.leases.room, made.leases.tenant)


def test_nothing_counts_as_reused_unless_prefill_says_so():
    """The usage figures start at none."""
    assert RIGHT.cached_tokens == 0


def test_the_right_manifest_has_no_mismatch():
    """What was reserved came, and lies there."""
    assert compare_counts(RIGHT, EXPECTED) is None
    assert compare_digests(RIGHT, DIGESTS) is None


def rights(**changes: object):
    return replace(RIGHT, leases=replace(HELD, **changes))


DEVIATIONS = {
    "another room": (Check.BINDING, rights(room=RoomId(2))),
    "another tenant": (Check.BINDING, rights(tenant=TenantId("B"))),
    "another layout": (Check.BINDING, replace(RIGHT, layout="other")),
    "an older epoch": (Check.BINDING, rights(epochs=(Epoch(1), Epoch(0), Epoch(1)))),
    "another page": (Check.BINDING, rights(pages=(PageId(0), PageId(1), PageId(7)))),
    "another order": (Check.BINDING, rights(pages=(PageId(1), PageId(0), PageId(2)))),
    "a token fewer": (Check.COUNT, replace(RIGHT, tokens=RIGHT.tokens - 1)),
    "a token more": (Check.COUNT, replace(RIGHT, tokens=RIGHT.tokens + 1)),
    "a page fewer": (Check.COUNT, manifest(HELD.first(2), digests=DIGESTS[:2])),
    "one page, as in the incident": (Check.COUNT, manifest(HELD.first(1), tokens=1, digests=DIGESTS[:1])),
    "the same tokens in other pages": (Check.COUNT, replace(RIGHT, page_size=11, leases=HELD.first(1), digests=None)),
}


@pytest.mark.parametrize(("check", "deviating"), DEVIATIONS.values(), ids=DEVIATIONS)
def test_each_single_deviation_is_found(check, deviating):
    """One fact differs: the mismatch names the check that found it."""
    assert compare_counts(deviating, EXPECTED).check is check


def test_only_a_pushing_wire_has_its_own_leases_echoed():
    """On a pulling wire the manifest names prefill's pages: other numbers, no mismatch."""
    pulled = replace(EXPECTED, leases_are_echoed=False)
    assert compare_counts(rights(pages=(PageId(4), PageId(5), PageId(6))), pulled) is None
    assert compare_counts(rights(room=RoomId(2)), pulled).check is Check.BINDING


def test_a_mismatch_never_names_a_tenant():
    """Tenants' names do not go into logs and error answers."""
    wrong = compare_counts(rights(tenant=TenantId("a secret key")), replace(EXPECTED, leases=HELD))
    assert "secret" not in str(wrong)
    assert str(wrong) == "I2-binding: expected tenant of this room, got other"


@given(st.integers(1, 8), st.data())
def test_any_page_that_differs_is_found(pages, data):
    """One digest of what lies in the pool is another: found, wherever it is."""
    attested = tuple(digest(page) for page in range(pages))
    made = manifest(leases(pages=pages), digests=attested)
    at = data.draw(st.integers(0, pages - 1))
    lying = (*attested[:at], Digest(data.draw(st.binary(min_size=16, max_size=16))), *attested[at + 1 :])
    found = compare_digests(made, lying)
    assert (found is None) is (lying == attested)
    assert found is None or f"first: page {at}" in found.got


@pytest.mark.parametrize("in_pool", [DIGESTS[:2], (*DIGESTS, digest(3)), ()], ids=["fewer", "more", "none"])
def test_pages_that_were_never_attested_are_found(in_pool):
    """As many digests as pages reserved, no fewer, no more."""
    assert compare_digests(RIGHT, in_pool).check is Check.DIGEST


def test_a_manifest_without_digests_does_not_pass_where_they_are_asked_for():
    """None is not a match."""
    assert compare_digests(replace(RIGHT, digests=None), DIGESTS).check is Check.DIGEST
