"""What a plan that does not fit tells to type: it fits when it is typed, and it is the engine's own words."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from kvfence.findings.forecast import Forecast
from kvfence.plan.fit import Need, promise
from kvfence.plan.planning import plan
from kvfence.plan.predict import Model, predict
from kvfence.plan.setting import Engine, Setting
from kvfence.report.plan_terminal import print_plan
from support.plan_models import NAMES, config_of, setting_of


def _printed(forecast: Forecast) -> str:
    page = io.StringIO()
    print_plan(forecast, Console(file=page, width=400))
    return page.getvalue()


def _low(model: Model, setting: Setting, context: int) -> int:
    return predict(model, replace(setting, context=context)).pool.low


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    engine=st.sampled_from(list(Engine)),
    dp=st.sampled_from([1, 2, 8]),
    requests=st.integers(1, 60),
)
def test_the_context_that_is_named_as_fitting_fits(name: str, engine: Engine, dp: int, requests: int):
    """Typed as it stands, with as many requests; no tenth more does, so it is no mere safe guess."""
    setting = setting_of(engine, tp=8 if engine is Engine.SGLANG else 1, dp=dp)
    model = Model(config=config_of(name))
    need = Need(context=1 << 20, requests=requests)
    context = promise(model, setting, need)
    if context in {0, need.context}:
        return
    assert _low(model, setting, context) >= replace(need, context=context).tokens(setting)
    longer = replace(need, context=context * 11 // 10 + 4_096)
    assert _low(model, setting, longer.context) < longer.tokens(setting)


def test_requests_are_counted_over_the_pools_that_share_them():
    """With attention eight times over, 40 requests are five in a pool: figures and advice are of one pool."""
    setting = setting_of(tp=8, dp=8)
    forecast = plan(Model(config=config_of("deepseek-v3")), setting, Need(context=163_840, requests=40))
    assert "40 x 163,840 over 8 pools asks for 819,200 tokens in one of them" in _printed(forecast)
    assert forecast.promise == forecast.pool.low // 5
    assert f"--context-length {forecast.promise}" in _printed(forecast)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (
            setting_of(tp=8, fraction=0.88),
            "--tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes 2 (2 nodes)",
        ),
        (setting_of(Engine.VLLM, tp=8), "--tensor-parallel-size 8 --pipeline-parallel-size 2 (2 nodes)"),
    ],
)
def test_a_change_is_written_as_the_engine_reads_it(setting: Setting, told: str):
    """VLLM has no `--tp`, and SGLang takes `--pp` for the start of several options."""
    forecast = plan(Model(config=config_of("deepseek-v3")), setting, Need(context=1 << 20, requests=2))
    assert f"Change: {told}" in _printed(forecast)
