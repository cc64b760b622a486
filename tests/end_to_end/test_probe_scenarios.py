"""Each manner of asking finds what needs that manner, over real HTTP; and a right server is clean under all of them."""

import asyncio
import json

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.client import EndpointClient
from kvfence.probe.limits import Cost
from kvfence.probe.record import HangUp, Scenario
from support.manner_servers import POOL, manner_server
from support.probe_servers import endpoint
from support.programs import assert_one_clear_line, run_kvfence

A = Tenant(name="tenant-a", salt="salt-a")
B = Tenant(name="tenant-b", salt="salt-b")
FAULTS = [
    ("at-once", Scenario.CONCURRENT),
    ("after-longer", Scenario.ALTERNATING),
    ("after-hang-up", Scenario.HANG_UP),
    ("pool-full", Scenario.PINNED_POOL),
    ("prefix", Scenario.SHARED_PREFIX),
    ("streamed", Scenario.STREAMING),
]
"""When the server is wrong, and the manner that is to find it."""
FULL = Bounds(known_pool_tokens=POOL)


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
    result, _ = probed("never", *Scenario, bounds=FULL)
    assert result.verdict is ProbeVerdict.CLEAN, result.reason
    assert set(by_name(result).values()) == {LengthVerdict.CLEAN}


@pytest.mark.parametrize(("wrong", "scenario"), FAULTS)
def test_a_fault_that_needs_a_manner_is_found_in_it_and_not_by_the_sweep(wrong, scenario):
    """The same server, asked without that manner and with it."""
    assert probed(wrong, bounds=FULL)[0].verdict is ProbeVerdict.CLEAN
    result, _ = probed(wrong, scenario, bounds=FULL)
    assert result.verdict is ProbeVerdict.LEAK
    assert by_name(result) == {Scenario.SWEEP: LengthVerdict.CLEAN, scenario: LengthVerdict.LEAK}
    assert {row.scenario for row in result.lengths if row.verdict is LengthVerdict.LEAK} == {scenario}


def test_a_json_object_with_another_value_now_and_then_is_found_by_its_echo():
    """One in five that have others beside them: garbled, though each by itself parses, and every marker is there."""
    everything_else = [one for one in Scenario if one is not Scenario.JSON_ECHO]
    assert probed("json", *everything_else, bounds=FULL)[0].verdict is ProbeVerdict.CLEAN
    result, _ = probed("json", Scenario.JSON_ECHO)
    assert result.verdict is ProbeVerdict.GARBLED
    assert "in json-echo and not in the sweep" in result.reason
    (row,) = (row for row in result.lengths if row.verdict is LengthVerdict.GARBLED)
    assert (row.recalled, row.planted) == (5, 5)
    assert "of the JSON object came back" in row.detail


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


@pytest.mark.parametrize(
    ("when", "begins", "left"),
    [
        (HangUp(), "", 1),
        (HangUp(wait_s=0.01), "", 1),
        (HangUp(wait_s=30), '{"choices"', 0),
        (HangUp(pieces=1), "AAAAA", 0),
        (HangUp(pieces=500), "AAAAA-BBBBB; END.", 0),
    ],
)
def test_a_hang_up_comes_when_it_was_planned_and_counts_in_full(when, begins, left):
    """Before the first byte the server sees it; in a stream, what came by then is kept; nothing is given back."""

    async def hung_up(url):
        async with EndpointClient(Target(base_url=url, timeout_s=20)) as client:
            cost = Cost(100, 200)
            client.purse.set_aside(cost)
            asked = await client.ask_and_hang_up("copier", "1-CODE-1: AAAAA-BBBBB; END.", A, cost, when)
            return asked, client.purse.spent

    with manner_server("after-hang-up") as server:
        asked, spent = asyncio.run(hung_up(server.url))
        with server.changed:
            server.changed.wait_for(lambda: len(server.given_up) >= left, 10)
    assert (asked.reply.status, asked.tries, asked.spent) == (None, 1, Cost(100, 200))
    assert (spent.requests, spent.prompt_tokens, spent.answer_tokens) == (1, 100, 200)
    assert "hung up on purpose" in asked.reply.detail
    assert asked.reply.text.startswith(begins)
    assert bool(asked.reply.text) is bool(begins)
    assert len(server.given_up) == left


def test_a_hang_up_is_no_answer_and_what_it_shows_of_others_is_a_leak():
    """It has no row of its own but for a leak; its cost is in what was spent."""
    result, _ = probed("never", Scenario.HANG_UP)
    whys = {row.why for row in result.lengths if row.scenario == Scenario.HANG_UP}
    assert whys == {"asks while others hang up", "asks right after a hang-up"}
    assert result.spent
    assert result.spent.requests == result.requests
    told, _ = probed("streamed", Scenario.HANG_UP)
    leaks = [row for row in told.lengths if row.why == "hangs up"]
    assert leaks
    assert {(row.verdict, row.status) for row in leaks} == {(LengthVerdict.LEAK, None)}
    assert {mark.planted_by for row in leaks for mark in row.evidence} == {"tenant-a", "tenant-b"}  # in turn


def test_a_pool_of_unknown_size_is_not_filled_and_that_is_said():
    """By name it is wrong use; among all it is told, and the rest is judged."""
    ran = run_kvfence("probe", "http://127.0.0.1:9/v1", "--scenario", "pinned-pool")
    assert_one_clear_line(ran, "pinned-pool", "--facts", "--limit")
    result, _ = probed("never", Scenario.PINNED_POOL)
    assert result.verdict is ProbeVerdict.CLEAN
    assert "not run: pinned-pool" in result.reason
    assert by_name(result)[Scenario.PINNED_POOL] is LengthVerdict.INCONCLUSIVE
    assert "not known" in result.scenarios[-1].detail


def test_a_pool_is_under_way_as_a_whole_or_that_is_said():
    """All of its tokens at once; with too few at once the report says how much of it was."""
    result, server = probed("pool-full", Scenario.PINNED_POOL, bounds=FULL)
    seeds = [row for row in server.asked if row["user"] == "salt-a"]
    assert sum(len(body["messages"][0]["content"]) for body in seeds[-6:]) >= POOL
    assert "pool's" not in result.scenarios[-1].detail
    result, _ = probed("never", Scenario.PINNED_POOL, bounds=Bounds(known_pool_tokens=POOL, concurrency=3))
    assert f"only 7,955 of the pool's {POOL:,} tokens" in result.scenarios[-1].detail
