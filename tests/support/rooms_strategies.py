"""Hypothesis strategies for core's values, built from the types of their fields."""

from __future__ import annotations

import typing
from dataclasses import fields

from hypothesis import strategies as st

from kvfence.core.admission import Rejected
from kvfence.core.ids import Digest, Epoch, PageId, PrefixKey, Role, RoomId, TenantId
from kvfence.core.invariants import Check
from kvfence.core.lease import Leases
from kvfence.core.manifest import Manifest
from kvfence.core.sizes import pages_ceiling
from kvfence.core.tenant import may_be_a_client
from kvfence.core.wire import COUNT_END, MESSAGES

COUNTS = st.integers(0, COUNT_END - 1) | st.integers(0, 100)
TENANTS = st.text().filter(may_be_a_client).map(TenantId)
DIGESTS = st.binary(min_size=16, max_size=16)
SMALL = {"prompt_tokens": st.integers(1, 1 << 20)}
"""Fields with a narrower range than their type."""


FEW = st.integers(0, 6)


@st.composite
def leases_of(draw, pages=FEW):
    """Rights of any room to any pages."""
    count = draw(pages)
    numbers = st.lists(COUNTS, min_size=count, max_size=count).map(tuple)
    return Leases(RoomId(draw(COUNTS)), draw(TENANTS), draw(numbers), draw(numbers))


@st.composite
def manifests(draw):
    """Manifests that can be made: as many pages as their tokens touch."""
    size, tokens = draw(st.integers(1, 64)), draw(st.integers(1, 200))
    pages = pages_ceiling(tokens, size)
    return Manifest(
        leases=draw(leases_of(st.just(pages))),
        tokens=tokens,
        page_size=size,
        layout=draw(st.text()),
        digests=draw(st.none() | st.lists(DIGESTS, min_size=pages, max_size=pages).map(tuple)),
        cached_tokens=draw(st.integers(0, tokens)),
    )


BY_TYPE = {
    int: COUNTS,
    str: st.text(),
    RoomId: COUNTS.map(RoomId),
    TenantId: TENANTS,
    PageId: COUNTS.map(PageId),
    Epoch: COUNTS.map(Epoch),
    Role: st.sampled_from(Role),
    Check: st.sampled_from(Check),
    Leases: leases_of(),
    Manifest: manifests(),
    Rejected: st.builds(Rejected, asked_tokens=COUNTS, usable_tokens=COUNTS, gate=st.sampled_from(Role)),
    tuple[PrefixKey, ...]: st.lists(DIGESTS.map(PrefixKey), max_size=4).map(tuple),
    tuple[Digest, ...]: st.lists(DIGESTS.map(Digest), max_size=4).map(tuple),
}


def events_of(kind):
    """Any event of one kind."""
    types = typing.get_type_hints(kind)
    return st.builds(kind, **{field.name: SMALL.get(field.name, BY_TYPE[types[field.name]]) for field in fields(kind)})


MESSAGES_OF_ALL_KINDS = st.sampled_from(list(MESSAGES.values())).flatmap(events_of)
