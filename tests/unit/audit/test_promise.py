"""The figure that a fix tells to set really ends the finding, on every node of the path."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvfence.audit.deployment import Deployment
from kvfence.audit.promise import fitting_context, path_of
from support.audit_nodes import said_of, sglang, vllm

POOLS = st.integers(min_value=600, max_value=3_000_000)
PAGES = st.sampled_from([1, 16, 64, 128])


@given(POOLS, POOLS, PAGES)
def test_a_context_that_fits_ends_both_findings_and_keeps_its_promise(prefill: int, decode: int, page: int):
    """Set on both, no pool is below it, both refuse at the same length, and prefill has a token and a page to spare."""
    before = [
        sglang(role, pool_tokens=pool - pool % page, page_size=page)
        for role, pool in (("prefill", prefill), ("decode", decode))
    ]
    context = fitting_context(before)
    assert context is not None
    after = [
        sglang(str(node.text("role")), pool_tokens=node.number("pool_tokens"), context_length=context)
        for node in before
    ]
    assert said_of("pool-below-context", *after) == []
    assert said_of("asymmetric-pools", *after) == []
    longest = context - 7
    assert longest == min(node.number("usable_length") or 0 for node in after)
    assert longest + 1 + page <= (before[0].number("pool_tokens") or 0)


def test_the_figure_is_the_smallest_of_the_path():
    """A fix on prefill counts with decode's smaller pool, and not with a worker of another model."""
    prefill, decode = sglang("prefill", pool_tokens=681_280), sglang("decode", pool_tokens=600_000)
    other = sglang("decode", "other", pool_tokens=64_000, model="/models/other")
    assert fitting_context(path_of(prefill, Deployment((prefill, decode, other)))) == 600_000
    (on_prefill,) = [one for one in said_of("pool-below-context", prefill, decode, other) if one.node == "prefill"]
    assert "--context-length 600000 on every node of the path" in on_prefill.fix
    assert "prompts of up to 599,993 tokens are taken then" in on_prefill.fix


def test_the_incident_s_figure_keeps_a_page_back():
    """681,280 tokens in pages of 64: 681,216 can be promised, and 681,209 tokens of prompt are taken."""
    prefill, decode = sglang("prefill", pool_tokens=681_280), sglang("decode")
    (found,) = said_of("pool-below-context", prefill, decode)
    assert "--context-length 681216" in found.fix
    assert "up to 681,209 tokens" in found.fix
    (unequal,) = said_of("asymmetric-pools", prefill, decode)
    assert "--context-length 681216 on prefill and on decode" in unequal.fix


def test_other_engines_promise_whole_pages():
    """VLLM's pool in whole blocks, nothing kept back."""
    assert fitting_context([vllm("prefill", pool_tokens=3_700, page_size=16)]) == 3_696
