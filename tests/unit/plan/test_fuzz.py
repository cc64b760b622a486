"""Configs with anything in any place: a plan or one clear line, never another exception."""

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.errors import KvfenceError
from kvfence.plan.fit import Need
from kvfence.plan.model_config import document, parse
from kvfence.plan.planning import plan
from kvfence.plan.predict import Model
from kvfence.plan.setting import Engine
from support.plan_models import MODELS, NAMES, setting_of

ANYTHING: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10**13),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.one_of(st.integers(-1, 5), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
ALSO = (
    "quantization_config",
    "linear_attn_config",
    "hybrid_override_pattern",
    "full_attention_interval",
    "sliding_window_pattern",
    "index_topk_freq",
    "rope_scaling",
    "vision_config",
    "mamba_num_heads",
)
"""Fields that not every model has."""


@settings(max_examples=150, deadline=None)
@given(data=st.data(), name=st.sampled_from(NAMES), engine=st.sampled_from(list(Engine)), tp=st.sampled_from([1, 8]))
def test_a_config_with_anything_in_it_is_planned_or_refused_with_one_line(data, name, engine, tp):
    """No other exception, whatever stands where."""
    whole = dict(document(MODELS / f"{name}.json"))
    fields = sorted({*whole, *whole.get("text_config", {}), *ALSO})
    changed = data.draw(st.dictionaries(st.sampled_from(fields), ANYTHING, min_size=1, max_size=3))
    inner = {**whole, **whole.get("text_config", {}), **changed}
    inner.pop("text_config", None)
    with contextlib.suppress(KvfenceError):
        assert plan(Model(config=parse(inner, "x")), setting_of(engine, tp=tp), Need(context=4096)).pool.low >= 0
