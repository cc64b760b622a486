import shutil
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.errors import UsageError
from kvfence.findings.forecast import Standing
from kvfence.plan.cache import Keeps
from kvfence.plan.fit import Need
from kvfence.plan.gpus import Gpu, gpu_of, table
from kvfence.plan.model_config import read
from kvfence.plan.planning import plan
from kvfence.plan.predict import Model, predict
from kvfence.plan.setting import Engine, KvDtype, Measured, Role, Setting
from support.plan_models import NAMES, config_of, setting_of

NAMED = st.sampled_from(NAMES)
DTYPES = st.sampled_from([KvDtype.BF16, KvDtype.FP8_E4M3])


@st.composite
def settings_of(draw: st.DrawFn, engine: Engine | None = None) -> Setting:
    """Settings that start for every model in the corpus; the batch is fixed, as its default depends on the memory."""
    tp = draw(st.sampled_from([1, 2, 4, 8]))
    return Setting(
        engine=engine or draw(st.sampled_from(list(Engine))),
        gpu=Gpu("some", draw(st.integers(16_000, 300_000)), "hopper", "drawn"),
        tp=tp,
        kv_dtype=draw(DTYPES),
        fraction=draw(st.floats(0.5, 0.95)),
        role=draw(st.sampled_from(list(Role))),
        chunk=8192,
        running=draw(st.sampled_from([None, 16, 256])),
        page_size=draw(st.sampled_from([None, 16, 64])),
        draft_layers=draw(st.integers(0, 2)),
    )


@settings(max_examples=60, deadline=None)
@given(name=NAMED, setting=settings_of(), more=st.integers(1, 60_000))
def test_more_memory_never_gives_fewer_tokens(name, setting, more):
    """Low, likely and high, whatever the model and the engine; but for what one recurrent state takes.

    SGLang gives states whole slots out of a share: one more slot can cost more than the memory that came with it.
    """
    setting = replace(setting, running=setting.running or 64)
    larger = replace(setting, gpu=replace(setting.gpu, memory_mib=setting.gpu.memory_mib + more))
    model = Model(config=config_of(name))
    made, other = predict(model, setting), predict(model, larger).pool
    one, cache = made.pool, made.cache
    slot = -(-cache.state_bytes // (cache.token_bytes(Keeps.FULL) or 1)) + (setting.page_size or 1)
    spare = slot if setting.engine is Engine.SGLANG and cache.state_bytes else 0
    pairs = ((one.low, other.low), (one.likely, other.likely), (one.high, other.high))
    assert all(less <= more + spare for less, more in pairs)


@settings(max_examples=60, deadline=None)
@given(name=NAMED, setting=settings_of())
def test_the_forecast_is_in_order(name, setting):
    """Low is not above likely, nor likely above high, and the usable length never above the pool."""
    forecast = plan(Model(config=config_of(name)), setting, Need(context=1))
    assert 0 <= forecast.pool.low <= forecast.pool.likely <= forecast.pool.high
    assert forecast.usable.high <= min(forecast.pool.high, forecast.context)
    assert all(share.low <= share.likely <= share.high for share in forecast.shares)


@settings(max_examples=60, deadline=None)
@given(name=NAMED, setting=settings_of())
def test_a_wider_split_never_keeps_more_of_a_token_on_one_gpu(name, setting):
    """Twice the tensor parallelism: fewer heads a GPU, or as many."""
    model = Model(config=config_of(name))
    narrower = replace(setting, tp=max(setting.tp // 2, 1))
    one, other = predict(model, narrower).cache, predict(model, setting).cache
    for keeps in (Keeps.FULL, Keeps.WINDOW):
        assert other.token_bytes(keeps) <= one.token_bytes(keeps)
    assert other.state_bytes <= one.state_bytes


@settings(max_examples=30, deadline=None)
@given(
    name=NAMED,
    setting=settings_of(),
    context=st.sampled_from([8192, 131072, 1 << 20]),
    requests=st.integers(1, 8),
)
def test_the_change_that_is_named_fits_and_nothing_before_it_does(name, setting, context, requests):
    """By the same arithmetic; what was tried before it does not, and nothing is tried when it fits already."""
    forecast = plan(Model(config=config_of(name)), setting, Need(context=context, requests=requests))
    if forecast.standing in {Standing.FINE, Standing.TIGHT}:
        assert forecast.tried == ()
        return
    *before, last = forecast.tried or (None,)
    assert not any(attempt.fits or attempt.pool.low >= attempt.needed for attempt in before)
    if last is not None and last.fits:
        assert forecast.change == last
        assert last.pool.low >= last.needed


@pytest.mark.parametrize(
    ("setting", "need", "flag"),
    [
        (setting_of(tp=8, fraction=0.60, role=Role.PREFILL), Need(context=163840, requests=3), "--mem-fraction-static"),
        (setting_of(tp=8, fraction=0.88), Need(context=163840, requests=5), "--kv-cache-dtype"),
        (setting_of(Engine.VLLM, tp=8, fraction=0.70), Need(context=163840, requests=3), "--gpu-memory-utilization"),
        (setting_of(tp=8, fraction=0.88), Need(context=1048576, requests=2), "--nnodes 2"),
    ],
)
def test_the_smallest_change_comes_first(setting, need, flag):
    """A fraction before a type, a type before GPUs, and one change where one is enough."""
    change = plan(Model(config=config_of("deepseek-v3")), setting, need).change
    assert change is not None
    assert flag in change.flags
    assert " and " not in change.what


def test_two_changes_are_tried_only_when_none_alone_fits():
    """The last resort names both."""
    setting = setting_of(tp=8, fraction=0.88)
    forecast = plan(Model(config=config_of("deepseek-v3")), setting, Need(context=1 << 20, requests=20))
    assert forecast.change is not None
    assert " and " in forecast.change.what
    assert not any(" and " not in attempt.what and attempt.fits for attempt in forecast.tried)


@pytest.mark.parametrize(
    ("context", "standing"),
    [(10_000, Standing.FINE), (70_000, Standing.TIGHT), (100_000, Standing.TIGHT), (100_001, Standing.BELOW)],
)
def test_the_pool_stands_against_the_context_by_the_incidents_rule(context, standing):
    """Below, or above with less than twice as much, or fine; here the memory is measured, so nothing is unsure."""
    model = Model(config=config_of("llama-3.1-8b"))
    measured = Measured(free_before_gib=20, free_after_gib=100_000 * 131072 / (1 << 30))
    setting = setting_of(gpu="l4", fraction=1.0, measured=measured)
    assert plan(model, setting, Need(context=context)).standing is standing


def test_a_need_between_low_and_high_cannot_be_told():
    """That is neither fit nor unfit."""
    model, setting = Model(config=config_of("deepseek-v3")), setting_of(tp=8, fraction=0.88)
    pool = predict(model, setting).pool
    assert plan(model, setting, Need(context=pool.likely)).standing is Standing.UNSURE


def test_prefill_and_decode_keep_different_reserves():
    """By SGLang's own defaults: the asymmetry of the incident."""
    model = Model(config=config_of("deepseek-v3"))
    pools = {predict(model, setting_of(tp=8, role=role)).pool.likely for role in (Role.PREFILL, Role.DECODE)}
    assert len(pools) == 2


def test_every_gpu_has_a_source_and_more_memory_is_no_surprise():
    """The table is data with citations."""
    for name, gpu in table().items():
        assert gpu_of(name.upper()) == gpu
        assert "#" in gpu.source
    assert gpu_of("mib=81559").memory_mib == 81559


@pytest.mark.parametrize("name", ["h900", "", "mib=", "mib=-4", "mib=99999999999"])
def test_a_gpu_that_is_not_known_is_refused_with_those_that_are(name):
    """And how to give its memory."""
    with pytest.raises(UsageError, match="h200"):
        gpu_of(name)


def test_pools_of_one_worker_are_for_one_share_of_the_requests():
    """With attention DP over 8, 16 requests are 2 in each pool."""
    assert Need(context=1000, requests=17).tokens(setting_of(tp=8, dp=8)) == 3000


def test_an_index_of_weights_stands_before_a_count(tmp_path):
    """`total_size` beside the config is what the files have; a table and what the allocator rounds up come on top."""
    shutil.copy(config_of("qwq-32b").file, tmp_path / "config.json")
    (tmp_path / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 32000000000}}')
    shares = predict(Model(config=read(str(tmp_path))), setting_of()).shares
    assert 32e9 < shares[1].likely < 32.5e9
    assert "index" in shares[1].source
