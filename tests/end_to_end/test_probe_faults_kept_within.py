"""Faults in other manners than the sweep, in what only counts, and in usage: verdict, budget and keys all the same."""

import logging
from typing import get_args

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.journal import Journal
from kvfence.probe.limits import Limits
from kvfence.probe.patience import Patience
from kvfence.probe.record import Scenario
from kvfence.report.probe_formats import ProbeFormat, rendered
from support.faults import Fault
from support.probe_results import RUN
from support.probe_servers import Behaviour, endpoint

KEYS = ("tenant-a-key-3f9c1d", "tenant-b-key-77aa0e")
A, B = (Tenant(name=f"tenant-{name}", api_key=key, salt=f"salt-{name}") for name, key in zip("ab", KEYS, strict=True))
HASTY = Patience(first_wait_s=0.001, wait_s_max=0.05)
READ = {"sse", "gzip", "plain"}
"""Odd, and right."""
NOT_TAKEN = {"redirect", "echo-key"}
"""What was asked for was refused, so there is nothing to pay."""
PATIENT_S, HASTY_S = 20, 0.8


def options(url, *manners, bounds=Bounds(lengths=(3000,), seeds_each=1), limits=Limits(), timeout_s=PATIENT_S):  # noqa: B008 — frozen
    return Options(
        target=Target(base_url=url, timeout_s=timeout_s),
        seeders=(A,),
        harvester=B,
        bounds=bounds,
        seed=7,
        key=b"key",
        patience=HASTY,
        limits=limits,
        scenarios=(Scenario.SWEEP, *manners),
    )


def expected(fault):
    """What a length is, and all of it, where every answer past the limit has this fault."""
    if fault in READ:
        return LengthVerdict.CLEAN, ProbeVerdict.CLEAN
    if fault == "usage":
        return LengthVerdict.TRUNCATED, ProbeVerdict.TRUNCATED
    return LengthVerdict.ERROR, ProbeVerdict.INCONCLUSIVE


@pytest.mark.parametrize("fault", sorted({*get_args(Fault)} - {"drip"}))  # waited for once, in the sweep
def test_each_fault_has_its_verdict_in_other_manners_and_no_key_is_in_any_report(tmp_path, caplog, fault):
    """All at once, streamed, and beside clients that hang up: never a leak, and clean only what can be read."""
    caplog.set_level(logging.INFO)  # below that, httpcore writes down the headers that a server sends
    path = tmp_path / "journal"
    bounds = Bounds(lengths=(3000,), seeds_each=1, rounds_each=1, concurrency=4)
    manners = (Scenario.CONCURRENT, Scenario.STREAMING, Scenario.HANG_UP)
    with (
        endpoint() as elsewhere,
        endpoint(Behaviour(limit=1000, fault=fault, elsewhere=elsewhere.url)) as server,
        Journal(path) as journal,
    ):
        result = run(options(server.url, *manners, bounds=bounds), recorder=journal)
    assert elsewhere.asked == []
    long, whole = expected(fault)
    found = {(row.scenario, row.verdict) for row in result.lengths if row.tokens > 1000}
    assert found == {(str(manner), long) for manner in (Scenario.SWEEP, *manners)}
    assert result.verdict is whole, result.reason
    kept = "".join(rendered(result, form, RUN) for form in ProbeFormat)
    for text in (kept, caplog.text, path.read_bytes().decode(errors="replace")):
        assert not any(key in text for key in KEYS)


@pytest.mark.parametrize("fault", sorted({*get_args(Fault)} - NOT_TAKEN))
def test_no_fault_exceeds_a_budget_or_the_number_of_requests(fault):
    """What broke on the way may have been billed; one after the other, then at once, with 429 before some of it."""
    bounds = Bounds(lengths=(2000, 2100, 2200), seeds_each=1, concurrency=6, requests_max=40)
    with endpoint(Behaviour(limit=1000, fault=fault, busy=2)) as server:
        asked = options(server.url, Scenario.CONCURRENT, bounds=bounds, limits=Limits(tokens=9000), timeout_s=HASTY_S)
        result = run(asked)
    assert server.taken <= 9000
    assert result.spent.prompt_tokens + result.spent.answer_tokens <= 9000
    assert len(server.asked) <= result.spent.requests <= 40
    assert result.verdict is not ProbeVerdict.CLEAN
    assert result.unasked


@pytest.mark.parametrize("said", [10**12, 0, -7, True, 2.5, "3000", None, [3000], float("nan")])
def test_usage_that_is_no_count_changes_no_verdict_and_no_budget(said):
    """Far too high, negative, of another type, or none: the answer is what counts."""
    with endpoint() as server:

        def complete(body, right=server.complete):
            status, answer = right(body)
            return status, ({**answer, "usage": {"prompt_tokens": said}} if status == 200 else answer)

        server.complete = complete
        result = run(options(server.url, limits=Limits(tokens=40_000)))
    assert result.verdict is ProbeVerdict.CLEAN, result.reason
    assert server.taken <= result.spent.prompt_tokens + result.spent.answer_tokens <= 40_000


@pytest.mark.parametrize("times_too_few", [2, 6, 10])
def test_a_count_that_is_too_small_exceeds_no_budget(times_too_few):
    """An endpoint whose /tokenize is of another tokenizer: usage contradicts it, and the budget goes by the larger."""
    with endpoint(Behaviour(declared=131_072)) as server:
        right = server.count
        server.count = lambda body: (200, {"count": right(body)[1]["count"] // times_too_few})
        result = run(options(server.url, bounds=Bounds(), limits=Limits(tokens=60_000)))
    assert 0 < server.taken <= 60_000
    assert result.unasked
    assert f"usage says up to {times_too_few}.0 times as many" in result.token_count_by


@pytest.mark.parametrize("said", [1, 10**9, -5, 0, "17", True, 2.5, None, [1, 2]])
def test_a_count_that_is_none_is_not_believed(said):
    """Lengths then come from usage, within a few per cent."""
    with endpoint(Behaviour(chars_a_token=4.0)) as server:
        server.count = lambda _body: (200, {"count": said})
        result = run(options(server.url))
    assert result.verdict is ProbeVerdict.CLEAN
    assert result.lengths[-1].tokens == pytest.approx(3000, rel=0.05)
    assert "usage.prompt_tokens" in result.token_count_by
