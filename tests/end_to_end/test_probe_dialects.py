"""Anthropic's and OpenRouter's endpoints are probed as OpenAI's are, and what only they do has its verdict."""

import logging
from dataclasses import replace

import pytest

from kvfence.errors import TargetError, UsageError
from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.dialects.anthropic import MESSAGES
from kvfence.probe.dialects.openrouter import OpenRouter
from kvfence.probe.journal import Journal
from kvfence.probe.patience import Patience
from kvfence.probe.record import Scenario
from kvfence.report.probe_formats import ProbeFormat, rendered
from support.probe_results import RUN
from support.probe_servers import Behaviour
from support.vendor_servers import MODEL, anthropic, openrouter

A, B = (Tenant(name=f"tenant-{name}", api_key="key-of-a-vendor", salt=f"salt-{name}") for name in "ab")
LONG = Bounds(lengths=(3000,), seeds_each=1)
PINNED = OpenRouter(pinned="deepinfra/fp8")
SERVERS = {"anthropic": (anthropic, MESSAGES), "openrouter": (openrouter, PINNED)}
TWISTED = Behaviour(limit=1000, chars_a_token=4.0)


def options(url, dialect, bounds=LONG, *, scenarios=(Scenario.SWEEP,), without=()):
    return Options(
        target=Target(base_url=url, model=MODEL, timeout_s=20, dialect=dialect, without=without),
        seeders=(A,),
        harvester=B,
        bounds=bounds,
        seed=7,
        key=b"key",
        scenarios=scenarios,
        patience=Patience(first_wait_s=0.001, wait_s_max=0.05),
    )


@pytest.mark.parametrize("kind", SERVERS)
def test_an_honest_endpoint_is_clean_up_to_what_it_declares(kind):
    """The declared context is looked up where the vendor says it, and the refusal past it is an honest one."""
    serve, dialect = SERVERS[kind]
    with serve(Behaviour(key=A.api_key)) as server:
        result = run(options(server.url, dialect, Bounds()))
    assert result.verdict is ProbeVerdict.CLEAN, result
    assert result.declared_context == 8192
    assert result.verified_tokens > 7900
    assert result.lengths[-1].verdict is LengthVerdict.REFUSED
    assert result.refused_though_declared == ()


@pytest.mark.parametrize("kind", SERVERS)
def test_another_tenants_marker_is_a_leak(kind):
    """Whoever's dialect it came in, streamed or not."""
    serve, dialect = SERVERS[kind]
    with serve(replace(TWISTED, beyond="leak")) as server:
        assert run(options(server.url, dialect)).verdict is ProbeVerdict.LEAK


def test_what_anthropic_is_sent_is_what_it_takes():
    """No temperature, its own names, its key header; tokens are counted beforehand, and usage's three figures agree."""
    with anthropic(Behaviour(key=A.api_key)) as server:
        result = run(options(server.url, MESSAGES))
    assert server.asked[0].keys() == {"model", "max_tokens", "stop_sequences", "messages", "metadata", "user"}
    assert {body["metadata"]["user_id"] for body in server.asked} == {"salt-a", "salt-b"}
    assert all("authorization" not in headers for headers in server.headers)
    assert "count_tokens, exact" in result.token_count_by
    assert result.lengths[-1].tokens == 3000
    assert "usage says" not in result.lengths[-1].detail


def test_what_openrouter_is_sent_pins_the_provider_and_keeps_the_prompt_whole():
    """Only that provider, no other one instead, and nothing is cut out of the prompt."""
    with openrouter() as server:
        result = run(options(server.url, PINNED))
    only = ["deepinfra/fp8"]
    assert server.asked[0]["provider"] == {"order": only, "only": only, "allow_fallbacks": False}
    assert server.asked[0]["plugins"] == [{"id": "context-compression", "enabled": False}]
    assert "cache_salt" not in server.asked[0]
    assert result.tenants_told_apart_by == ("user",)


@pytest.mark.parametrize(("pinned", "declared"), [("deepinfra", 8192), ("deepinfra/fp4", 16384), (None, 8192)])
def test_the_declared_context_is_the_pinned_providers(pinned, declared):
    """The smallest where it serves the model in several forms; without a pinned one, the model's."""
    with openrouter() as server:
        result = run(options(server.url, OpenRouter(pinned=pinned)))
    assert result.declared_context == declared


def test_a_provider_that_does_not_serve_the_model_is_one_clear_line():
    """With those that do, before anything is asked."""
    with openrouter() as server:
        with pytest.raises(UsageError, match=r"no provider 'novita' for vendor/copier; it has azure, deepinfra/fp4"):
            run(options(server.url, OpenRouter(pinned="novita")))
        assert server.asked == []


@pytest.mark.parametrize(
    ("kind", "twist", "verdict", "words"),
    [
        ("anthropic", "reset", LengthVerdict.ERROR, "closed in the middle"),
        ("anthropic", "error-event", LengthVerdict.ERROR, "status 200: Overloaded"),
        ("anthropic", "cut-stream", LengthVerdict.ERROR, "ended in the middle"),
        ("anthropic", "declined", LengthVerdict.ERROR, "declined to answer"),
        ("anthropic", "overloaded", LengthVerdict.CLEAN, ""),
        ("anthropic", "echo-key", LengthVerdict.ERROR, "[the api key] may not"),
        ("openrouter", "reset", LengthVerdict.ERROR, "closed in the middle"),
        ("openrouter", "error-200", LengthVerdict.ERROR, "status 200: Provider returned error"),
        ("openrouter", "error-in-choice", LengthVerdict.ERROR, "Upstream is gone"),
        ("openrouter", "error-event", LengthVerdict.ERROR, "Upstream is gone"),
        ("openrouter", "raw-error", LengthVerdict.REFUSED, "the context of 1000 tokens is exceeded"),
        ("openrouter", "later-200", LengthVerdict.CLEAN, ""),
        ("openrouter", "elsewhere", LengthVerdict.ELSEWHERE, "answered by Azure"),
        ("openrouter", "echo-key", LengthVerdict.ERROR, "[the api key] is not known"),
    ],
)
def test_what_a_vendor_does_past_a_limit_has_its_verdict(tmp_path, caplog, *, kind, twist, verdict, words):
    """And its key is in no journal and no log."""
    serve, dialect = SERVERS[kind]
    path = tmp_path / "journal"
    caplog.set_level(logging.INFO)  # below that, httpcore writes down the headers that a server sends
    with serve(TWISTED, twist) as server, Journal(path) as journal:
        result = run(options(server.url, dialect), recorder=journal)
    row = result.lengths[-1]
    assert row.verdict is verdict, row
    assert A.api_key not in caplog.text
    assert words in row.detail
    assert A.api_key.encode() not in path.read_bytes()
    unknown = {LengthVerdict.ERROR, LengthVerdict.ELSEWHERE}
    assert (result.verdict is ProbeVerdict.INCONCLUSIVE) == (verdict in unknown)


def test_a_prompt_that_loses_its_middle_on_the_way_is_truncated():
    """The usage of what was left of it says so, by the line of the prompts that were read whole."""
    with openrouter(Behaviour(limit=2500, chars_a_token=4.0), "compressed") as server:
        result = run(options(server.url, PINNED, Bounds(lengths=(2000, 3000), seeds_each=1)))
    assert result.verdict is ProbeVerdict.TRUNCATED
    assert "prompt tokens where" in result.lengths[-1].detail
    assert result.verified_tokens == pytest.approx(2000, rel=0.01)


@pytest.mark.parametrize(("kind", "twist"), [("anthropic", "error-event"), ("openrouter", "error-event")])
def test_somebody_elses_marker_before_an_error_is_a_leak(kind, twist):
    """What came before the error was read, and it was foreign; also where another provider said it."""
    serve, dialect = SERVERS[kind]
    with serve(replace(TWISTED, beyond="leak"), twist) as server:
        assert run(options(server.url, dialect)).verdict is ProbeVerdict.LEAK


def test_an_answer_of_another_provider_is_no_trial_of_the_pinned_one():
    """It says nothing of how often that one leaks; a leak in it is one all the same."""
    with openrouter(TWISTED, "elsewhere") as server:
        result = run(options(server.url, PINNED))
    assert result.lengths[-1].leak_rate.trials == 0
    with openrouter(replace(TWISTED, beyond="leak"), "elsewhere") as server:
        leaked = run(options(server.url, PINNED))
    assert leaked.verdict is ProbeVerdict.LEAK
    assert "answered by Azure" in leaked.leaks[0].detail


def test_a_stream_of_anthropic_is_read_as_one_answer():
    """In the scenario that asks for the same with and without one."""
    with anthropic() as server:
        result = run(options(server.url, MESSAGES, scenarios=(Scenario.SWEEP, Scenario.STREAMING)))
    assert result.verdict is ProbeVerdict.CLEAN
    assert any(body.get("stream") for body in server.asked)
    assert all("stream_options" not in body for body in server.asked)


@pytest.mark.parametrize("kind", SERVERS)
def test_a_wrong_key_is_one_clear_line(kind):
    """At the first question."""
    serve, dialect = SERVERS[kind]
    with (
        serve(Behaviour(key="another key")) as server,
        pytest.raises(TargetError, match=r"wants a key \(status 401\)"),
    ):
        run(options(server.url, dialect))


def test_a_journal_of_another_pinned_provider_is_another_campaign(tmp_path):
    """The address and the model are the same, the endpoint is not."""
    with openrouter() as server:
        with Journal(tmp_path / "journal") as journal:
            run(options(server.url, PINNED), recorder=journal)
        with (
            Journal(tmp_path / "journal") as journal,
            pytest.raises(UsageError, match=r"with deepinfra/fp8 pinned, not OpenRouter with azure pinned"),
        ):
            run(options(server.url, OpenRouter(pinned="azure")), recorder=journal)


def test_a_model_that_thinks_has_room_for_it():
    """In every answer's limit, in what is set aside, in the longest prompt that fits, and in the report."""
    with anthropic() as server:
        plain = options(server.url, MESSAGES, Bounds())
        thinking = replace(plain, target=replace(plain.target, thinking_tokens=1000))
        results = [run(one) for one in (plain, thinking)]
    lengths = [max(row.tokens for row in result.lengths[:-1]) for result in results]
    limits = {body["max_tokens"] for body in server.asked}
    assert max(limits) - min(limits) == 1000
    assert lengths[0] - lengths[1] == 1000
    for form, said in ((ProbeFormat.TABLE, "1,000 tokens of thinking"), (ProbeFormat.HTML, "1,000 tokens in each")):
        assert [said in rendered(result, form, RUN) for result in results] == [False, True]


def test_fields_that_an_endpoint_refuses_can_be_left_out():
    """Whether they ask or tell tenants apart."""
    behaviour = Behaviour(unknown_fields=("temperature", "stop", "user"), chars_a_token=4.0)
    with openrouter(behaviour) as server:
        result = run(options(server.url, PINNED, without=("temperature", "stop", "user")))
    assert result.verdict is ProbeVerdict.CLEAN
    assert len(server.asked) == result.requests
    assert result.tenants_told_apart_by == ()
