"""What is asked: the plan before it is run, what an audit adds to it, and closing in on where it turns."""

import json

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.foresight import foresee
from kvfence.probe.limits import Limits, Prices
from kvfence.probe.record import Scenario
from support.probe_servers import Behaviour, endpoint
from support.programs import assert_one_clear_line, run_kvfence

A = Tenant(name="tenant-a", salt="salt-a")
B = Tenant(name="tenant-b", salt="salt-b")
EVERYTHING = (Scenario.SWEEP, Scenario.CONCURRENT)


def options(url, bounds=Bounds(), *, limits=Limits(), scenarios=EVERYTHING, context=16_384):  # noqa: B008 — frozen values
    return Options(
        target=Target(base_url=url, timeout_s=20, declared_context=context, model="copier"),
        seeders=(A,),
        harvester=B,
        bounds=bounds,
        seed=7,
        key=b"key",
        limits=limits,
        scenarios=scenarios,
    )


@pytest.mark.parametrize("depths_and_more", [Bounds(), Bounds(limits=(9000,), multiples=(16, 2048), seeds_each=1)])
def test_what_is_foreseen_is_what_is_asked(depths_and_more):
    """Request for request against an endpoint that keeps its word, and the tokens and the cost are those it counts."""
    prices = Prices(per_million_in=1.0, per_million_out=2.0)
    with endpoint(Behaviour(declared=16_384)) as server:
        given = options(server.url, depths_and_more, limits=Limits(prices=prices))
        plan = foresee(given)
        assert not server.asked
        result = run(given)
        lengths = [server.tokens(body["messages"][0]["content"], templated=False) for body in server.asked]
    assert result.verdict is ProbeVerdict.CLEAN
    assert sorted(one.tokens for one in plan.requests) == sorted(lengths)
    assert plan.spent.prompt_tokens == result.spent.prompt_tokens
    assert plan.spent.answer_tokens >= result.spent.answer_tokens
    assert plan.spent.usd >= result.spent.usd


def test_a_length_that_is_shorter_than_its_markers_is_told_and_its_real_tokens_are_counted():
    """Before anything is sent, by the same figure that is then spent; and in its row. Other lengths say nothing."""
    bounds = Bounds(lengths=(5, 2000))
    with endpoint(Behaviour(declared=16_384)) as server:
        plan, result = foresee(options(server.url, bounds)), run(options(server.url, bounds))
        told = run_kvfence(
            "probe", server.url, "--context", "16384", "--lengths", "5", "--lengths", "2000", "--dry-run"
        )
    assert "5 markers has 462 characters at least, which may be more than 5 tokens" in plan.longer_than_asked
    assert plan.longer_than_asked in " ".join(told.out.split())
    assert plan.spent.prompt_tokens == result.spent.prompt_tokens
    rows = {row.tokens: row for row in result.lengths if row.scenario == Scenario.SWEEP}
    assert "5 were wanted, and with 5 markers none is shorter" in rows[462].detail
    assert not rows[2000].detail
    assert not foresee(options("http://127.0.0.1:9/v1", Bounds(lengths=(462,)))).longer_than_asked


def test_a_budget_that_is_too_small_is_foreseen():
    """Which one, and how far it would go."""
    plan = foresee(options("http://127.0.0.1:9/v1", limits=Limits(tokens=30_000)))
    assert plan.stopped_by == "the budget of 30,000 tokens"
    assert plan.spent.prompt_tokens + plan.spent.answer_tokens <= 30_000
    assert foresee(options("http://127.0.0.1:9/v1", Bounds(requests_max=3))).stopped_by == "the limit of requests"


def test_a_dry_run_sends_nothing(tmp_path):
    """The plan, its tokens, cost and time as a table and as JSON, with what an audit knows."""
    facts = tmp_path / "audit.json"
    node = {"node": "prefill-0", "facts": {"pool_tokens": 681_280, "context_length": 2**20, "page_size": 64}}
    facts.write_text(json.dumps({"schema": 1, "nodes": [node]}), encoding="utf-8")
    with endpoint() as server:
        command = ("probe", server.url, "--facts", str(facts), "--dry-run", "--price-in", "1", "--price-out", "2")
        table, document = run_kvfence(*command), run_kvfence(*command, "--format", "json", "--max-rps", "0.01")
        assert not server.times
        assert not server.asked
    assert (table.code, document.code) == (0, 0)
    assert "just over the KV pool of prefill-0 681,280" in " ".join(table.out.split())
    plan = json.loads(document.out)
    assert {681_011, 681_312, 8191, 8193, 2**20 + 64} <= {one["tokens"] for one in plan["requests"]}
    assert plan["spent"]["usd"] == pytest.approx(
        (plan["spent"]["prompt_tokens"] + 2 * plan["spent"]["answer_tokens"]) / 10**6
    )
    assert plan["seconds"] == pytest.approx(100 * len(plan["requests"]))


def test_a_dry_run_without_a_context_is_one_clear_line():
    """It asks nobody, so it must be given."""
    assert_one_clear_line(run_kvfence("probe", "http://127.0.0.1:9/v1", "--dry-run"), "--context")


def test_a_limit_that_the_endpoint_names_is_closed_in_on_at_once():
    """Both sides of it are asked before any bisection, and a refusal within the declared context is a finding."""
    bounds = Bounds(seeds_each=0)
    with endpoint(Behaviour(declared=16_384, limit=11_111, beyond="refuse")) as server:
        result = run(options(server.url, bounds, scenarios=(Scenario.SWEEP,)))
    named = [row for row in result.lengths if "names 11,111" in row.why]
    assert result.verdict is ProbeVerdict.LIMIT_OVERSTATED
    assert [row.tokens for row in named] == [11_111 - 237, 11_112]
    refused = min(row.tokens for row in result.lengths if row.verdict is LengthVerdict.REFUSED)
    clean = max(row.tokens for row in result.lengths if row.verdict is LengthVerdict.CLEAN)
    assert clean <= 11_111 < refused
    assert refused - clean <= 32


@pytest.mark.parametrize("beyond", ["leak", "crash"])
def test_without_a_figure_bisection_closes_in_as_far_as_it_may(beyond):
    """Each length asked halves what is left; two hundred tokens of eight thousand after six."""
    with endpoint(Behaviour(declared=16_384, limit=11_111, beyond=beyond)) as server:
        result = run(options(server.url, Bounds(seeds_each=1, bisections=6), scenarios=(Scenario.SWEEP,)))
    wrong = min(row.tokens for row in result.lengths if row.verdict not in (LengthVerdict.CLEAN, LengthVerdict.REFUSED))
    clean = max(row.tokens for row in result.lengths if row.verdict is LengthVerdict.CLEAN)
    assert clean <= 11_111 < wrong
    assert wrong - clean <= 200
