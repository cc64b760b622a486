"""A fault-ridden endpoint: the right outcome for each fault, no key anywhere, no limit exceeded."""

import io
import logging
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.journal import Journal
from kvfence.probe.limits import Limits, Prices
from kvfence.probe.patience import Patience
from kvfence.report.probe_json import document
from kvfence.report.probe_terminal import show_probe
from support.probe_servers import Behaviour, endpoint
from support.programs import assert_one_clear_line, run_kvfence

KEYS = ('tenant-a/"key"/3f9c', "tenant-b/key/77aa")
A, B = (Tenant(name=f"tenant-{name}", api_key=key, salt=f"salt-{name}") for name, key in zip("ab", KEYS, strict=True))
HASTY = Patience(first_wait_s=0.001, wait_s_max=0.05)
LONG = Bounds(lengths=(3000,), seeds_each=1)
CLEAN, ERROR = LengthVerdict.CLEAN, LengthVerdict.ERROR


def options(url, bounds=LONG, *, timeout_s=20, limits=Limits()):  # noqa: B008 — a frozen value
    target = Target(base_url=url, timeout_s=timeout_s)
    return Options(
        target=target,
        seeders=(A,),
        harvester=B,
        bounds=bounds,
        seed=7,
        key=b"key",
        patience=HASTY,
        limits=limits,
    )


@pytest.mark.parametrize(
    ("fault", "row", "words"),
    [
        ("reset", ERROR, "closed in the middle"),
        ("drip", ERROR, "no answer within 1 s"),
        ("truncated", ERROR, "no whole JSON"),
        ("cut", ERROR, "closed in the middle"),
        ("sse", CLEAN, ""),
        ("sse-cut", ERROR, "ended in the middle"),
        ("gzip", CLEAN, ""),
        ("gzip-broken", ERROR, "Error"),
        ("usage", None, "1 prompt tokens"),
        ("plain", CLEAN, ""),
        ("redirect", ERROR, "another server"),
        ("echo-key", ERROR, "quota of [the api key] is used up"),
    ],
)
def test_each_fault_has_its_outcome_and_no_key_is_anywhere(tmp_path, caplog, fault, row, words):
    """An error is no verdict on content, what is only odd is read, and reports, journal and logs are free of keys."""
    caplog.set_level(logging.INFO)  # below that, httpcore writes down the headers that a server sends
    path = tmp_path / "journal"
    with endpoint() as elsewhere, endpoint(Behaviour(limit=1000, fault=fault, elsewhere=elsewhere.url)) as server:
        with Journal(path) as journal:
            result = run(options(server.url, timeout_s=1 if fault == "drip" else 20), recorder=journal)
        assert elsewhere.asked == []
    long = result.lengths[-1]
    assert row in (long.verdict, None)
    assert words in long.detail
    assert result.verdict is (ProbeVerdict.CLEAN if row is CLEAN else result.verdict)
    if row is ERROR:
        assert result.verdict is ProbeVerdict.INCONCLUSIVE
    shown = Console(file=io.StringIO(), width=400)
    show_probe(result, shown)
    kept = str(document(result)) + shown.file.getvalue() + path.read_bytes().decode(errors="replace") + caplog.text
    for key in KEYS:
        for form in (key, key.replace("/", "\\/"), key.replace('"', '\\"')):
            assert form not in kept
    assert "quota of" in kept or fault != "echo-key"


def test_somebody_elses_marker_in_a_broken_answer_is_a_leak():
    """What came before the connection broke was read, and it was foreign."""
    with endpoint(Behaviour(limit=1000, fault="cut", beyond="leak")) as server:
        assert run(options(server.url)).verdict is ProbeVerdict.LEAK


@pytest.mark.parametrize("retry_after", [None, "0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_too_many_requests_is_asked_again_within_bounds(retry_after):
    """With a time, a date, or none: the answer comes in the end, and every try is counted."""
    with endpoint(Behaviour(busy=3, retry_after=retry_after)) as server:
        result = run(options(server.url))
    assert result.verdict is ProbeVerdict.CLEAN
    assert result.spent.requests == len(server.asked) == result.requests + 3


@pytest.mark.parametrize(("retry_after", "tries"), [(None, 4), ("86400", 1), ("99999999999999999999", 4), ("soon", 4)])
def test_an_endpoint_that_is_busy_for_ever_is_given_up(retry_after, tries):
    """After four tries, or at once when it wants a day; what was not answered is an error and no refusal."""
    with endpoint() as server:

        def turn(progress):
            server.now(busy=99 if progress.tokens > 1000 else 0, retry_after=retry_after)

        result = run(options(server.url), turn)
    assert result.lengths[-1].verdict is ERROR
    assert result.verdict is ProbeVerdict.INCONCLUSIVE
    assert (f"asked {tries} times" in result.lengths[-1].detail) == (tries > 1)


@given(
    budget=st.integers(1, 60_000),
    chars_a_token=st.sampled_from([1.0, 2.5, 4.5]),
    counts=st.sampled_from([(), ("messages",), ("prompt",)]),
    template=st.sampled_from([0, 40]),
)
@settings(max_examples=12, deadline=None)
def test_a_budget_of_tokens_is_never_exceeded(budget, chars_a_token, counts, template):
    """By the server's own count, whether it counts beforehand or not; and what was not asked is in the verdict."""
    behaviour = Behaviour(chars_a_token=chars_a_token, counts=counts, template_tokens=template, busy=1)
    with endpoint(behaviour) as server:
        result = run(options(server.url, Bounds(), limits=Limits(tokens=budget)))
    assert server.taken <= budget
    assert server.taken <= result.spent.prompt_tokens + result.spent.answer_tokens <= budget
    assert (result.verdict is ProbeVerdict.CLEAN) == (not result.unasked)
    if result.unasked:
        assert f"the budget of {budget:,} tokens was reached" in result.reason


def test_a_budget_of_dollars_is_never_exceeded():
    """By the prices given, for prompts and answers."""
    prices = Prices(per_million_in=3.0, per_million_out=15.0)
    with endpoint() as server:
        result = run(options(server.url, Bounds(), limits=Limits(usd=0.05, prices=prices)))
    assert 0.01 < result.spent.usd <= 0.05
    assert server.taken * 3 / 10**6 <= 0.05
    assert "0.05 US dollars was reached before" in result.reason
    assert 7955 in result.unasked


def untimed(result):
    return [replace(row, seconds=0.0) for row in result.lengths]


def test_a_campaign_that_its_budget_stopped_goes_on_with_a_higher_one(tmp_path):
    """Nothing is asked twice, and what was spent before counts."""
    path = tmp_path / "journal"
    with endpoint() as whole:
        expected = run(options(whole.url, Bounds()))
    with endpoint() as server:
        for tokens in (9_000, 200_000):
            with Journal(path) as journal:
                result = run(options(server.url, Bounds(), limits=Limits(tokens=tokens)), recorder=journal)
    assert untimed(result) == untimed(expected)
    assert len(server.asked) == len(whole.asked)
    assert result.spent.prompt_tokens == expected.spent.prompt_tokens


def test_faults_do_not_exceed_a_budget_either():
    """What was sent and broke on the way may have been billed, so it counts in full."""
    with endpoint(Behaviour(limit=1000, fault="cut")) as server:
        result = run(options(server.url, Bounds(lengths=(3000, 3100, 3200)), limits=Limits(tokens=9000)))
    assert server.taken <= 9000
    assert result.unasked


def test_requests_come_no_faster_than_allowed():
    """Counting requests as well, also where many may be under way at once."""
    bounds = Bounds(lengths=(1500,), seeds_each=2, concurrency=8)
    with endpoint() as server:
        run(options(server.url, bounds, limits=Limits(requests_per_s=40)))
    gaps = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
    assert len(gaps) > 5
    assert server.times[-1] - server.times[0] >= 0.9 * len(gaps) / 40


def test_retries_count_as_requests():
    """`requests_max` holds for everything that is sent."""
    with endpoint(Behaviour(busy=2)) as server:
        result = run(options(server.url, Bounds(requests_max=3)))
    assert len(server.asked) == 3
    assert "the limit of 3 requests" in result.reason
    assert result.verdict is ProbeVerdict.INCONCLUSIVE


def test_budgets_and_prices_are_options(tmp_path):
    """The verdict says which limit it was and what was not asked; exit 3, for what was not asked is not clean."""
    prices = tmp_path / "prices.toml"
    prices.write_text('["copier"]\nin = 3\nout = 15.0\n', encoding="utf-8")
    with endpoint() as server:
        ran = run_kvfence(
            "probe",
            server.url,
            "--model",
            "copier",
            "--prices",
            str(prices),
            "--budget-usd",
            "0.02",
            "--max-rps",
            "500",
            "--concurrency",
            "2",
        )
        asked, taken = len(server.asked), server.taken
    assert ran.code == 3
    assert "the budget of 0.02 US dollars was reached before 4,096, 7,955" in " ".join(ran.out.split())
    assert asked
    assert taken * 3 / 10**6 < 0.02


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--budget-usd", "1"), ("--budget-usd needs prices",)),
        (("--price-in", "1"), ("--price-in without --price-out",)),
        (("--price-out", "1"), ("--price-out without --price-in",)),
        (("--prices", "FILE"), ("--prices needs --model",)),
        (("--prices", "/no/such", "--model", "m"), ("cannot be read as TOML",)),
        (("--prices", "FILE", "--model", "other"), ('no table ["other"]', "m")),
        (("--prices", "FILE", "--model", "m"), ("needs numbers",)),
    ],
)
def test_prices_that_are_not_there_are_one_clear_line(tmp_path, args, words):
    """And nothing is sent."""
    path = tmp_path / "prices.toml"
    path.write_text('[m]\nin = "3"\nout = true\n', encoding="utf-8")
    ran = run_kvfence("probe", "http://127.0.0.1:9/v1", *(str(path) if arg == "FILE" else arg for arg in args))
    assert_one_clear_line(ran, *words)
