import random
import subprocess
import sys
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.probe.filler import filler, padding
from kvfence.probe.prompts import DEPTHS_MAX, Form, Prefix, Recipe, build, fixed_chars

MILLION = 2**20
BIG = f"""
import resource, time
from kvfence.probe.prompts import Recipe, build
chars = {MILLION} * 5  # more than English has in any tokenizer that was measured
began = time.perf_counter()
prompt = build(Recipe(seed=1, tenant="a", request=0, filler_chars=chars, depths={DEPTHS_MAX}), b"key")
seconds = time.perf_counter() - began
assert len(prompt.markers) == {DEPTHS_MAX} and len(prompt.text) > chars
print(seconds, int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024)
"""


def test_a_million_tokens_with_64_markers_are_built_in_seconds_and_little_memory():
    """Less than 200 MB with the interpreter; the time has room for a slow machine that has other things to do."""
    ran = subprocess.run([sys.executable, "-c", BIG], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, ran.stdout.split())
    assert megabytes < 200
    assert seconds < 10


@given(depths=st.integers(1, DEPTHS_MAX), chars=st.integers(20_000, 60_000))
@settings(max_examples=20, deadline=None)
def test_markers_stand_in_order_and_evenly(depths, chars):
    """Each in the middle of its part of the text, or a sentence before."""
    prompt = build(Recipe(seed=3, tenant="a", request=1, filler_chars=chars, depths=depths), b"key")
    places = [prompt.text.index(marker.text) for marker in prompt.markers]
    assert places == sorted(places)
    part = chars / depths
    for index, place in enumerate(places):
        around = len(prompt.text) - chars
        assert part * (index + 0.5) - 200 <= place <= part * (index + 0.5) + around


def test_the_first_line_is_unlike_any_other_prompts():
    """A nonce at the very start, so that no prefix cache knows the first page."""
    starts = {
        build(Recipe(seed=1, tenant=tenant, request=request, filler_chars=99), b"k").text[:18]
        for tenant in ("a", "b")
        for request in range(50)
    }
    assert len(starts) == 100


@given(chars=st.integers(0, 20_000), more=st.integers(0, 5000))
@settings(max_examples=30, deadline=None)
def test_a_shorter_filler_is_the_start_of_a_longer_one(chars, more):
    """And both are exactly as long as wanted."""
    short, long = (filler(random.Random(5), size) for size in (chars, chars + more))
    assert (len(short), len(long)) == (chars, chars + more)
    assert long.startswith(short)
    assert len(padding(chars)) == chars


@pytest.mark.parametrize("pad", [1, 7, 100])
def test_padding_moves_nothing_but_the_text_behind_it(pad):
    """It stands in the first line, so that what it costs can be counted there alone."""
    recipe = Recipe(seed=1, tenant="a", request=0, filler_chars=5000)
    plain, padded = (build(Recipe(**_fields(recipe), pad_chars=chars), b"k").text for chars in (0, pad))
    first, rest = padded.split("\n", 1)
    assert plain.split("\n", 1) == [first[:-pad], rest]
    assert len(plain) == fixed_chars(recipe.depths) + 5000


def _fields(recipe):
    return {name: getattr(recipe, name) for name in ("seed", "tenant", "request", "filler_chars")}


def common(one, other):
    """Characters at the start in which two texts are the same."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def test_a_shared_prefix_is_the_same_for_all_and_has_no_marker():
    """Half of the filler; what is a tenant's own begins with its nonce, behind it."""
    shared, other = (
        build(Recipe(seed=4, tenant=tenant, request=7, filler_chars=6000, form=Form(prefix=Prefix.SHARED)), b"k")
        for tenant in ("a", "b")
    )
    same = common(shared.text, other.text)
    assert 3000 <= same <= 3000 + len("\nDocument 000000000")
    assert all(shared.text.index(marker.text) > same for marker in shared.markers)
    unique = build(Recipe(seed=4, tenant="a", request=7, filler_chars=6000), b"k")
    assert common(shared.text, unique.text) < 20
    assert len(shared.text) == len(unique.text) + 1
