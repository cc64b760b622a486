"""What the manners of asking cost stands in the docs, and is what the plan says."""

import re

import pytest

from kvfence.probe import Bounds, Options, Target
from kvfence.probe.foresight import foresee
from kvfence.probe.options import key_of, tenant_of
from kvfence.probe.record import Scenario
from support.source_tree import ROOT

MANNERS = [one for one in Scenario if one is not Scenario.SWEEP]


def planned_tokens(context, pool, *manners):
    """Prompt tokens of the sweep and those manners, with no other bound than the plan's own."""
    options = Options(
        target=Target(base_url="http://endpoint.example/v1", declared_context=context, model="copier"),
        seeders=(tenant_of("a", None, 1),),
        harvester=tenant_of("b", None, 1),
        bounds=Bounds(known_pool_tokens=pool, requests_max=10_000),
        seed=1,
        key=key_of(1),
        scenarios=(Scenario.SWEEP, *manners),
    )
    return foresee(options).spent.prompt_tokens


@pytest.mark.parametrize("context", [2**20, 2**17, 2**13])
def test_the_page_has_the_costs_of_todays_plan(context):
    """Each manner by itself, beside the sweep."""
    page = (ROOT / "docs" / "manners-of-asking.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {context:,} \| (.*) \|$", page, re.MULTILINE)
    sweep = planned_tokens(context, None)
    told = [f"{sweep:,}"]
    for manner in MANNERS:
        pool = context if manner is Scenario.PINNED_POOL else None
        told.append(f"+{100 * (planned_tokens(context, pool, manner) / sweep - 1):.0f} %")
    assert row.split(" | ") == told
