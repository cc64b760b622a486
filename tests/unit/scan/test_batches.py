"""Exchanges go into Arrow and come back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvfence.scan.batches import EXCHANGES, batch_of, exchanges_of
from kvfence.scan.exchange import Coverage, Exchange, Place

text = st.text(max_size=20)
big = st.integers(0, 2**53)
places = st.builds(Place, source=st.integers(0, 2**31 - 1), offset=big, line=big)
exchanges = st.builds(
    Exchange,
    place=places,
    id=text,
    prompt=text,
    answer=text,
    prompt_coverage=st.sampled_from(Coverage),
    answer_coverage=st.sampled_from(Coverage),
    status=st.none() | st.integers(100, 599),
    **{name: st.none() | text for name in ("tenant", "session", "model", "provider", "finish")},
    **{name: st.none() | big for name in ("began_ms", "ended_ms", "prompt_tokens", "answer_tokens")},
)


@given(st.lists(exchanges, max_size=4))
def test_exchanges_come_back_from_a_batch_as_they_were(some):
    """Nothing is lost or changed on the way, and every batch has the one schema."""
    batch = batch_of(some)
    assert batch.schema.equals(EXCHANGES)
    assert list(exchanges_of(batch)) == some
