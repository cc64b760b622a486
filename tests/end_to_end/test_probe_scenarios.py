"""Each manner of asking finds what needs that manner, over real HTTP; and a right server is clean under all of them."""

import json

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.record import Scenario
from support.manner_servers import manner_server
from support.probe_servers import endpoint
from support.programs import assert_one_clear_line, run_kvfence

A = Tenant(name="tenant-a", salt="salt-a")
B = Tenant(name="tenant-b", salt="salt-b")
FAULTS = [
    ("at-once", Scenario.CONCURRENT),
    ("after-longer", Scenario.ALTERNATING),
    ("streamed", Scenario.STREAMING),
]
"""When the server is wrong, and the manner that is to find it."""


def probed(wrong, *scenarios, bounds=Bounds()):  # noqa: B008 — a frozen value
    with manner_server(wrong) as server:
        options = Options(
            target=Target(base_url=server.url, timeout_s=20),
            seeders=(A,),
            harvester=B,
            bounds=bounds,
            seed=7,
            key=b"key",
            scenarios=(Scenario.SWEEP, *scenarios),
        )
        return run(options), server


def by_name(result):
    return {one.name: one.verdict for one in result.scenarios}


def test_a_right_server_is_clean_in_every_manner():
    """No false alarm in any of them."""
    result, _ = probed("never", *Scenario)
    assert result.verdict is ProbeVerdict.CLEAN, result.reason
    assert set(by_name(result).values()) == {LengthVerdict.CLEAN}


@pytest.mark.parametrize(("wrong", "scenario"), FAULTS)
def test_a_fault_that_needs_a_manner_is_found_in_it_and_not_by_the_sweep(wrong, scenario):
    """The same server, asked without that manner and with it."""
    assert probed(wrong)[0].verdict is ProbeVerdict.CLEAN
    result, _ = probed(wrong, scenario)
    assert result.verdict is ProbeVerdict.LEAK
    assert by_name(result) == {Scenario.SWEEP: LengthVerdict.CLEAN, scenario: LengthVerdict.LEAK}
    assert {row.scenario for row in result.lengths if row.verdict is LengthVerdict.LEAK} == {scenario}


def test_no_more_are_under_way_than_may_be():
    """In any manner."""
    _, server = probed("never", *Scenario, bounds=Bounds(concurrency=3))
    assert server.most_under_way <= 3


def test_scenarios_are_chosen_by_name():
    """The sweep is always the first; what was found in which manner is in the document."""
    with endpoint() as server:
        ran = run_kvfence("probe", server.url, "--scenario", "concurrent", "--format", "json", "--max-requests", "60")
    report = json.loads(ran.out)
    assert (ran.code, report["verdict"]) == (0, "clean")
    assert [one["name"] for one in report["scenarios"]] == ["sweep", "concurrent"]
    assert {one["scenario"] for one in report["lengths"]} == {"sweep", "concurrent"}
    assert_one_clear_line(run_kvfence("probe", server.url, "--scenario", "sideways"), "sideways", "concurrent", "all")


def test_a_difference_between_two_ways_of_asking_is_told():
    """It names the part that is at fault, beside the verdict."""
    result, _ = probed("streamed", Scenario.STREAMING)
    assert "at 4,096 tokens streamed is leak and whole, for comparison clean" in result.scenarios[-1].detail
    assert [one.detail for one in probed("never", Scenario.STREAMING)[0].scenarios] == ["", ""]
