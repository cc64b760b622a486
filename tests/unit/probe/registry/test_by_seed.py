"""A marker that no file has is known by the seed and key of its campaign; every other one is not."""

import io
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.probe.campaign import Campaign
from kvfence.probe.foreign import foreign_in
from kvfence.probe.journal import About, NoJournal
from kvfence.probe.markers import Place, make_marker
from kvfence.probe.options import key_of
from kvfence.probe.prompts import Recipe, markers_of
from kvfence.probe.registry.by_seed import REQUESTS_TRIED, of_one_of, place_by_seed
from kvfence.probe.registry.planted import NO_REGISTRY, known_campaign
from kvfence.probe.registry.remembering import Remembering
from kvfence.probe.registry.searching import sights_in
from kvfence.probe.target import Bounds

TENANTS = ("tenant-a", "tenant-b")
LOOK_ALIKE = "ABCDE-FGHJK-MNPQR-STVWX-YZ012"


def marker(seed, tenant, request, depth):
    recipe = Recipe(seed=seed, tenant=tenant, request=request, filler_chars=0, depths=5)
    return markers_of(recipe, key_of(seed))[depth - 1].text


@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**48),
    tenant=st.sampled_from(TENANTS),
    request=st.integers(0, REQUESTS_TRIED - 1),
    depth=st.integers(1, 5),
)
def test_each_place_of_a_campaign_is_found_again(seed, tenant, request, depth):
    """Whatever the seed."""
    text = marker(seed, tenant, request, depth)
    found = place_by_seed(text, seed=seed, key=key_of(seed), tenants=TENANTS, depths=5)
    assert found == Place(tenant, request, depth)


def test_a_marker_with_the_same_mac_and_another_text_is_not_taken_for_the_campaigns():
    """Planted with its key at its place, but not made by its seed: what the MAC alone would let through."""
    text = make_marker(random.Random(5), key_of(1), Place("tenant-a", 3, 2)).text
    assert place_by_seed(text, seed=1, key=key_of(1), tenants=TENANTS, depths=5) is None


def remembering(seed=1):
    campaign = Campaign(seed=seed, key=key_of(seed), declared_context=8192)
    kept = Remembering(NoJournal(), NO_REGISTRY)
    kept.begin(About("http://h/v1", "m", campaign, Bounds()))
    return kept


def test_without_a_registry_an_earlier_run_of_the_same_seed_is_known():
    """Another tenant's is a leak that names it; the own one's is no leak; a look-alike is nothing."""
    kept = remembering()
    a, b = marker(1, "tenant-a", 200, 1), marker(1, "tenant-b", 201, 1)
    stranger = marker(2, "tenant-a", 200, 1)
    leak = foreign_in(f"{a} {b}", (), {}, tenant="tenant-b", memory=kept)
    assert leak.is_leak
    assert {(one.tenant, one.origin.request) for one in leak.remembered} == {("tenant-a", 200), ("tenant-b", 201)}
    assert not foreign_in(b, (), {}, tenant="tenant-b", memory=kept).is_leak
    assert foreign_in(stranger, (), {}, tenant="tenant-b", memory=kept).strays == (stranger,)
    assert foreign_in(LOOK_ALIKE, (), {}, tenant="tenant-b", memory=kept).evidence == ()


def test_a_campaign_that_a_registry_knows_by_its_seed_alone_is_named():
    """Its prompts are in no file; a campaign whose key does not follow from its seed is not taken for it."""
    known = known_campaign(key_of(1), 1, "http://h/v1", "m")
    own_key = known_campaign(b"own", 2, "http://h/v1", "m")
    assert of_one_of(marker(1, "tenant-b", 7, 2), (own_key, known)).origin.campaign == known.id
    assert of_one_of(marker(2, "tenant-b", 7, 2), (own_key, known)) is None


def test_a_text_is_searched_by_seed_too():
    """In lower case, beside a look-alike."""
    known = known_campaign(key_of(1), 1, "http://h/v1", "m")
    text = f"{LOOK_ALIKE}\nit said {marker(1, 'tenant-b', 7, 2).lower()}"
    (sight,) = sights_in(io.StringIO(text), "a text", lambda _pieces: (), lambda one: of_one_of(one, (known,)))
    assert (sight.line, sight.planted_by, sight.depth, sight.is_whole) == (2, "tenant-b", 2, True)
    assert sight.origin.planted_at is None
