"""Three answers, and the figures in them."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.core.admission import Admitted, Capacity, Condemned, Rejected, Wait, admit, advertised_tokens, fitting
from kvfence.core.ids import Role
from kvfence.core.invariants import Violation
from kvfence.core.rules import FENCED, PLACEHOLDER, TRUNCATE, Layer, only
from kvfence.core.sizes import pages_ceiling, pages_floor


@st.composite
def capacities(draw):
    """Pools smaller and larger than the context, reserves, pages of any size; a request of one token fits."""
    size = draw(st.integers(1, 64))
    pages = draw(st.integers(1, 500))
    reserve = draw(st.integers(0, pages * size - 1))
    rest = draw(st.integers(0, size - 1))
    context = draw(st.integers(1, 2 * pages * size))
    return Capacity(pool_tokens=pages * size + rest, context_tokens=context, page_size=size, reserve_tokens=reserve)


GATES = st.sampled_from(Role)


@given(capacities(), st.integers(1, 80_000), st.integers(0, 600), GATES)
def test_rejected_if_and_only_if_it_can_never_fit(capacity, asked, free, gate):
    """More than usable is refused, whatever is free, with both figures and the gate's name."""
    decision = admit(asked, capacity, free, gate=gate, rules=FENCED)
    assert isinstance(decision, Rejected) is (asked > capacity.usable_tokens)
    if isinstance(decision, Rejected):
        assert decision == Rejected(asked_tokens=asked, usable_tokens=capacity.usable_tokens, gate=gate)


@given(capacities(), st.integers(0, 600), GATES, st.data())
def test_wait_if_and_only_if_it_fits_but_not_now(capacity, free, gate, data):
    """What fits is admitted with its pages, or told how many are missing."""
    asked = data.draw(st.integers(1, capacity.usable_tokens))
    pages = -(-asked // capacity.page_size)
    decision = admit(asked, capacity, free, gate=gate, rules=FENCED)
    if pages > free:
        assert decision == Wait(pages - free)
    else:
        assert isinstance(decision, Admitted)
        assert (decision.tokens, decision.pages) == (asked, pages)
        assert decision.pages <= capacity.pool_pages


@given(capacities(), st.integers(1, 80_000), GATES)
def test_what_is_truncated_is_as_long_as_fits_and_no_longer_than_was_asked(capacity, asked, gate):
    """Nothing is refused then, and what fits is left as it is."""
    decision = admit(asked, capacity, capacity.pool_pages, gate=gate, rules=TRUNCATE)
    assert isinstance(decision, Admitted)
    assert decision.tokens == min(asked, capacity.usable_tokens)
    assert decision.pages == pages_ceiling(decision.tokens, capacity.page_size)


@given(capacities(), st.integers(1, 80_000), st.integers(0, 600))
def test_a_prompt_is_cut_to_what_its_role_holds_besides_the_answer_and_under_truncation_alone(capacity, prompt, new):
    """One token at least is left of it."""
    assert fitting(prompt, new, capacity, FENCED) == prompt
    cut = fitting(prompt, new, capacity, TRUNCATE)
    assert cut == min(prompt, max(1, capacity.usable_tokens - new))


@pytest.mark.parametrize("asked", [0, -1, -100])
@pytest.mark.parametrize("free", [0, 4])
@pytest.mark.parametrize("gate", Role)
def test_nothing_and_less_than_nothing_is_not_a_request(asked, free, gate):
    """It would be admitted with no pages or fewer, and the pool would lose count."""
    with pytest.raises(Violation, match=r"I1: -?[0-9]+ tokens asked"):
        admit(asked, Capacity(pool_tokens=64, context_tokens=64, page_size=8), free, gate=gate, rules=FENCED)


@given(capacities(), GATES)
def test_what_is_usable_is_admitted_into_an_empty_pool_and_a_token_more_is_not(capacity, gate):
    """The limit is the limit: exact on both sides (I7)."""
    at_limit = admit(capacity.usable_tokens, capacity, capacity.pool_pages, gate=gate, rules=FENCED)
    over = admit(capacity.usable_tokens + 1, capacity, capacity.pool_pages, gate=gate, rules=FENCED)
    assert isinstance(at_limit, Admitted)
    assert isinstance(over, Rejected)


@given(capacities(), st.integers(1, 80_000), st.integers(0, 600))
def test_without_i1_prefill_condemns_what_it_should_refuse(capacity, asked, free):
    """A placeholder of one token, which needs a page; nobody but prefill does this."""
    decision = admit(asked, capacity, free, gate=Role.PREFILL, rules=PLACEHOLDER)
    if asked <= capacity.usable_tokens:
        assert not isinstance(decision, Condemned | Rejected)
    elif free < 1:
        assert decision == Wait(1)
    else:
        assert isinstance(decision, Condemned)
        assert (decision.placeholder.tokens, decision.placeholder.pages) == (1, 1)
        assert (decision.refusal.asked_tokens, decision.refusal.usable_tokens) == (asked, capacity.usable_tokens)
        assert isinstance(admit(asked, capacity, free, gate=Role.DECODE, rules=PLACEHOLDER), Rejected)


def test_the_incident_in_figures():
    """A pool of 681,280 tokens under a context of 1,048,576: the measured one is the limit."""
    prefill = Capacity(pool_tokens=681_280, context_tokens=1_048_576, page_size=64)
    decode = Capacity(pool_tokens=1_310_720, context_tokens=1_048_576, page_size=64)
    assert (prefill.usable_tokens, decode.usable_tokens) == (681_280, 1_048_576)
    assert advertised_tokens([prefill, decode], FENCED) == 681_280
    assert advertised_tokens([prefill, decode], PLACEHOLDER) == 1_048_576
    refusal = admit(681_281, prefill, prefill.pool_pages, gate=Role.PREFILL, rules=FENCED)
    assert refusal == Rejected(asked_tokens=681_281, usable_tokens=681_280, gate=Role.PREFILL)


@given(st.lists(capacities(), min_size=1, max_size=4))
def test_what_is_advertised_fits_everywhere_on_the_path_and_one_more_does_not(path):
    """The smallest usable length; without I1, the smallest context, whatever the pools hold."""
    usable = advertised_tokens(path, only(Layer.ADMISSION))
    assert all(usable <= capacity.usable_tokens for capacity in path)
    assert any(usable + 1 > capacity.usable_tokens for capacity in path)
    assert advertised_tokens(path, only()) == min(capacity.context_tokens for capacity in path)


@pytest.mark.parametrize(
    "figures",
    [
        {"page_size": 0},
        {"page_size": -1},
        {"pool_tokens": 15},
        {"context_tokens": 0},
        {"reserve_tokens": 64},
        {"reserve_tokens": -1},
    ],
    ids=str,
)
def test_a_capacity_in_which_nothing_fits_cannot_be_made(figures):
    """A worker like that must not start (I7)."""
    right = {"pool_tokens": 64, "context_tokens": 64, "page_size": 16, "reserve_tokens": 0}
    assert Capacity(**right).usable_tokens == 64
    with pytest.raises(Violation, match="I7"):
        Capacity(**(right | figures))


def test_an_admission_cannot_be_forged():
    """Not made by hand, not stretched from a smaller one; only `admit` makes it."""
    capacity = Capacity(pool_tokens=64, context_tokens=64, page_size=16)
    admitted = admit(16, capacity, 4, gate=Role.DECODE, rules=FENCED)
    with pytest.raises(Violation, match="forged-value"):
        Admitted(64, 4, object())
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(admitted, pages=4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        admitted.pages = 4


@given(st.integers(0, 10_000), st.integers(1, 300))
def test_ceiling_holds_the_tokens_and_floor_is_full_of_them(tokens, size):
    """The two divisions are what their names say, and differ by the page that is full in part."""
    held, full = pages_ceiling(tokens, size), pages_floor(tokens, size)
    assert (held - 1) * size < tokens <= held * size
    assert full * size <= tokens < (full + 1) * size
    assert held - full == (tokens % size > 0)
