"""The probe as a library, over real HTTP, against endpoints that behave in one known way."""

import asyncio
import itertools

import pytest

from kvfence.errors import TargetError
from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.client import EndpointClient
from kvfence.probe.dialects.openai import CHAT, COMPLETIONS
from kvfence.probe.limits import Cost
from kvfence.probe.patience import Patience
from kvfence.report.probe_json import document
from support.probe_servers import Behaviour, endpoint
from support.programs import answering, tcp_server

HASTY = Patience(first_wait_s=0.001)
A = Tenant(name="tenant-a", api_key="key-a", salt="salt-a")
B = Tenant(name="tenant-b", api_key="key-b", salt="salt-b")


def options(url, bounds=Bounds(), *, completions=False):  # noqa: B008 — a frozen value
    target = Target(base_url=url, timeout_s=20, dialect=COMPLETIONS if completions else CHAT)
    return Options(target=target, seeders=(A,), harvester=B, bounds=bounds, seed=7, key=b"key", patience=HASTY)


def probed(behaviour, bounds=Bounds(), *, completions=False):  # noqa: B008 — a frozen value
    with endpoint(behaviour) as server:
        return run(options(server.url, bounds, completions=completions)), server


def verdicts(result):
    return [length.verdict for length in result.lengths]


@pytest.mark.parametrize("completions", [False, True])
def test_an_honest_endpoint_is_clean_up_to_what_it_declares(completions):
    """Exact lengths, ten requests, and the longest prompt that still leaves room for the answer."""
    result, server = probed(Behaviour(), completions=completions)
    assert result.verdict is ProbeVerdict.CLEAN
    assert [(length.tokens, length.status) for length in result.lengths] == [
        (768, 200),
        (4096, 200),
        (7955, 200),
        (8256, 400),
    ]
    assert (result.requests, len(server.asked)) == (10, 10)
    assert document(result)["leak_rate"] == {"seen": 0, "trials": 8, "upper_bound": 0.374467, "confidence": 0.95}
    assert result.tenants_told_apart_by == ("api key", "user", "cache_salt")


@pytest.mark.parametrize(
    ("beyond", "verdict", "row"),
    [
        ("leak", ProbeVerdict.LEAK, LengthVerdict.LEAK),
        ("cut", ProbeVerdict.LEAK, LengthVerdict.LEAK),
        ("own", ProbeVerdict.GARBLED, LengthVerdict.GARBLED),
        ("generic", ProbeVerdict.OFF_TOPIC, LengthVerdict.OFF_TOPIC),
        ("refuse", ProbeVerdict.LIMIT_OVERSTATED, LengthVerdict.REFUSED),
        ("rate", ProbeVerdict.INCONCLUSIVE, LengthVerdict.ERROR),
        ("crash", ProbeVerdict.INCONCLUSIVE, LengthVerdict.ERROR),
    ],
)
def test_what_happens_past_a_limit_has_its_verdict(beyond, verdict, row):
    """Right up to the limit, and from there each kind of answer is told from the others."""
    result, _ = probed(Behaviour(limit=5312, beyond=beyond), Bounds(limits=(5312,)))
    assert result.verdict is verdict
    within = [length for length in result.lengths if length.tokens <= 7955]
    assert {length.verdict for length in within if length.tokens > 5312} == {row}
    assert {length.verdict for length in within if length.tokens <= 5312} == {LengthVerdict.CLEAN}


def test_a_piece_of_a_foreign_marker_is_enough():
    """An answer that stops in the middle of another tenant's marker names who planted it, and at what length."""
    result, _ = probed(Behaviour(limit=5312, beyond="cut"))
    leak = next(length for length in result.lengths if length.verdict is LengthVerdict.LEAK)
    assert (leak.foreign, leak.evidence[0].planted_by, leak.evidence[0].planted_at_tokens) == (1, "tenant-a", 4096)


def test_own_earlier_text_is_garbled_and_not_another_tenants():
    """The harvester's own earlier marker is shown as such."""
    result, _ = probed(Behaviour(limit=5312, beyond="own"))
    garbled = next(length for length in result.lengths if length.verdict is LengthVerdict.GARBLED)
    assert {marker.planted_by for marker in garbled.evidence} == {"tenant-b"}
    assert garbled.foreign == 5


def test_a_leak_to_the_seeding_tenant_is_a_leak_too():
    """The harvester's markers in an answer to the seeder: one of the rows, and the verdict."""
    with endpoint() as server:

        def turn(progress):
            server.now(limit=700 if progress.why.startswith("plants") else 10**9, beyond="leak")

        result = run(options(server.url, Bounds(lengths=(3000,))), turn)
    assert result.verdict is ProbeVerdict.LEAK
    assert [length.verdict for length in result.lengths] == ["clean", "clean", "leak", "leak"]
    assert {marker.planted_by for length in result.lengths for marker in length.evidence} == {"tenant-b"}


@pytest.mark.parametrize("chars_a_token", [1.0, 3.3])
def test_without_tokenize_lengths_come_from_usage(chars_a_token):
    """Two addresses are tried once, lengths stay within a few percent, and the report says how they were made."""
    result, server = probed(Behaviour(declared=65_536, counts=(), chars_a_token=chars_a_token))
    assert result.verdict is ProbeVerdict.CLEAN
    assert server.counted == ["messages", "messages"]
    assert "usage.prompt_tokens" in result.token_count_by
    assert [length.tokens for length in result.lengths[-3:-1]] == pytest.approx([32_768, 65_299], rel=0.005)


def test_a_refusal_at_an_estimated_length_near_the_declared_one_is_no_finding():
    """Without a count, a prompt may be longer than was aimed at; the limit is not called overstated for that."""
    result, _ = probed(Behaviour(declared=8192, counts=(), limit=7900, beyond="refuse"))
    assert result.verdict is ProbeVerdict.CLEAN
    result, _ = probed(Behaviour(declared=8192, counts=(), limit=5000, beyond="refuse"))
    assert result.verdict is ProbeVerdict.LIMIT_OVERSTATED


def test_what_a_chat_template_adds_is_learnt_once():
    """Where only a plain prompt can be counted, the first usage shows the rest, and lengths are exact again."""
    result, server = probed(Behaviour(counts=("prompt",), template_tokens=23, chars_a_token=2.0))
    assert result.verdict is ProbeVerdict.CLEAN
    assert [length.tokens for length in result.lengths[1:3]] == [4096, 7955]
    assert "23 more of the chat template" in result.token_count_by
    assert server.counted.count("messages") == 1


@pytest.mark.parametrize("completions", [False, True])
def test_tokens_are_counted_in_the_form_of_llama_cpp_too(completions):
    """It answers other forms with no tokens at all, which is not a length; and its own with the tokens themselves."""
    result, server = probed(Behaviour(counts=("content",), chars_a_token=2.0), completions=completions)
    assert result.verdict is ProbeVerdict.CLEAN
    assert [length.tokens for length in result.lengths[1:3]] == [4096, 7955]
    assert set(server.counted[3:]) == {"content"}


@pytest.mark.parametrize(
    ("unknown", "left"), [(("cache_salt",), ("api key", "user")), (("user", "cache_salt"), ("api key",))]
)
def test_a_strict_endpoint_is_asked_without_the_fields_it_does_not_know(unknown, left):
    """Dropped on the first refusal, once, and the report says what is left to tell tenants apart by."""
    result, server = probed(Behaviour(unknown_fields=unknown))
    assert result.verdict is ProbeVerdict.CLEAN
    assert document(result)["tenants_told_apart_by"] == list(left)
    assert len(server.asked) == result.requests + len(unknown)


def test_a_bound_on_requests_leaves_no_false_all_clear():
    """What was not asked any more is not clean."""
    result, _ = probed(Behaviour(), Bounds(requests_max=4))
    assert result.verdict is ProbeVerdict.INCONCLUSIVE
    assert "7,955" in result.reason


def test_an_endpoint_that_dies_on_a_long_prompt_keeps_what_was_found():
    """Errors after a leak do not lose the leak."""
    with endpoint(Behaviour(limit=5000, beyond="leak")) as server:

        def turn(progress):
            server.now(beyond="leak" if progress.asked < 8 else "crash")

        result = run(options(server.url), turn)
    assert result.verdict is ProbeVerdict.LEAK
    assert LengthVerdict.ERROR in verdicts(result)


def test_a_secret_in_an_error_message_is_masked():
    """The endpoint's own words are evidence: cut, and without what is named like a secret."""
    result, _ = probed(Behaviour(limit=5000, beyond="rate"))
    details = " ".join(length.detail for length in result.lengths)
    assert "Rate limit" in details
    assert "api_key=hunter2" not in details


def test_a_key_that_only_asking_needs_is_asked_for():
    """The list of models is open, the rest is not: still one clear line."""
    with endpoint(Behaviour(key="other")) as server, pytest.raises(TargetError, match="--api-key-env"):
        run(options(server.url))


def test_an_answer_that_drips_ends_with_the_time_allowed():
    """Each byte comes in time, the whole does not; the clock is an argument, so nobody waits."""
    body = b'{"data": []}' + b" " * 200_000
    with tcp_server(answering("200 OK", body)) as url:
        ticks = itertools.count(0, 15)

        async def models():
            async with EndpointClient(Target(base_url=url, timeout_s=20), clock=lambda: next(ticks)) as client:
                await client.models(A)

        with pytest.raises(TargetError, match="no answer within 20 s"):
            asyncio.run(models())


def test_an_endless_answer_is_given_up(monkeypatch):
    """Memory is bounded whatever an endpoint sends."""
    monkeypatch.setattr("kvfence.probe.client.RESPONSE_BYTES_MAX", 2**20)

    async def ask(url):
        async with EndpointClient(Target(base_url=url)) as client:
            return await client.ask("m", "p", A, Cost(1, 1))

    with tcp_server(answering("200 OK", b"x" * 2**22)) as url:
        asked = asyncio.run(ask(url))
    assert asked.reply.status is None
    assert "more than 1 MiB" in asked.reply.detail
