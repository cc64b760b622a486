"""Budgets, journals and strict endpoints hold in every manner of asking."""

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.journal import Journal
from kvfence.probe.limits import Limits
from kvfence.probe.record import Scenario
from kvfence.report.probe_json import document
from support.manner_servers import POOL, manner_server

A = Tenant(name="tenant-a", salt="salt-a")
B = Tenant(name="tenant-b", salt="salt-b")


class Stopped(Exception):  # noqa: N818 — not an error of the product
    """The machine lost its power here."""


class StopsAfter(Journal):
    """A journal whose program dies when so many requests have ended."""

    def __init__(self, path, requests):
        super().__init__(path)
        self.left = requests

    def ended(self, exchange):
        super().ended(exchange)
        self.left -= 1
        if not self.left:
            raise Stopped


def options(url, *scenarios, limits=Limits()):  # noqa: B008 — a frozen value
    return Options(
        target=Target(base_url=url, timeout_s=20),
        seeders=(A,),
        harvester=B,
        bounds=Bounds(known_pool_tokens=POOL, concurrency=4),
        seed=7,
        key=b"key",
        scenarios=(Scenario.SWEEP, *scenarios),
        limits=limits,
    )


EACH = [one for one in Scenario if one is not Scenario.SWEEP]


@pytest.mark.parametrize("scenario", EACH)
def test_a_campaign_that_was_cut_off_in_a_manner_goes_on_in_it(tmp_path, scenario):
    """Rounds that were made are read back as they were, hang-ups and forms of prompts too; none is made twice."""
    with manner_server("never") as whole:
        expected = run(options(whole.url, scenario))
    with manner_server("never") as server:
        with pytest.raises(ExceptionGroup), StopsAfter(tmp_path / "campaign", 16) as journal:
            run(options(server.url, scenario), recorder=journal)
        with Journal(tmp_path / "campaign") as journal:
            result = run(options(server.url, scenario), recorder=journal)
        with Journal(tmp_path / "campaign") as journal:
            again = run(options(server.url, scenario), recorder=journal)
    assert result.verdict is expected.verdict is ProbeVerdict.CLEAN, result.reason
    assert document(again)["lengths"] == document(result)["lengths"]
    assert again.requests == result.requests <= expected.requests + 4
    assert result.scenarios[1].verdict is LengthVerdict.CLEAN


@pytest.mark.parametrize("scenario", EACH)
def test_a_budget_is_never_exceeded_in_any_manner(scenario):
    """Of tokens and of requests: what was not asked any more is not clean."""
    with manner_server("never") as server:
        result = run(options(server.url, scenario, limits=Limits(tokens=60_000)))
        sent = sum(len(body["messages"][0]["content"]) for body in server.asked)
    assert sent <= result.spent.prompt_tokens + result.spent.answer_tokens <= 60_000
    assert result.verdict is ProbeVerdict.INCONCLUSIVE
    assert "budget of 60,000 tokens" in result.reason


def test_a_server_that_knows_no_stream_options_is_asked_without_them():
    """Refused once, and then streamed."""
    with manner_server("never", unknown_field="stream_options") as server:
        result = run(options(server.url, Scenario.STREAMING))
    assert result.verdict is ProbeVerdict.CLEAN, result.reason
    assert server.refused == 1
