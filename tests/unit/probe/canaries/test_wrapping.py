"""An application's own calls, with the real client of `openai` against a real server."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from prometheus_client import CollectorRegistry

from kvfence import probe
from kvfence.errors import UsageError
from kvfence.probe.canaries.memory import Memory
from support.chat_server import MARKER, SAID, chat_server

ASKED = {"model": "m", "messages": [{"role": "user", "content": "One. Two.\n\nThree?"}]}


class Broken:
    """A registry that fails whenever it is asked."""

    def plant(self, _planted):
        raise OSError("disk full")

    def whose(self, _pieces):
        raise OSError("disk full")


def client_of(server, **settings: Any):
    return openai.OpenAI(base_url=server.url, api_key="k", max_retries=settings.pop("max_retries", 0))


def wrapped(server, share=1.0, **settings: Any):
    reports = []
    plain = client_of(server, max_retries=settings.pop("max_retries", 0))
    settings.setdefault("registry", Memory())
    return probe.wrap(plain, share=share, on_report=reports.append, **settings), reports


def ask(client, **more: Any):
    return client.chat.completions.create(**ASKED, **more).choices[0].message.content


def streamed(client, **more: Any):
    return [
        chunk.choices[0].delta.content or ""
        for chunk in client.chat.completions.create(**ASKED, stream=True, **more)
        if chunk.choices
    ]


def test_a_marker_is_planted_checked_and_taken_out():
    """The caller gets the answer that it would have got, and its messages stay its own."""
    before = json.dumps(ASKED)
    with chat_server() as server:
        client, reports = wrapped(server)
        assert ask(client) == SAID
        assert json.dumps(ASKED) == before
        assert len(server.markers) == 1
        assert isinstance(client, openai.OpenAI)
        assert probe.counts(client) == {"clean": 1}
    assert [(one.result.verdict, one.sampled, one.model, one.response_id) for one in reports] == [
        ("clean", True, "m", "chatcmpl-1")
    ]


@pytest.mark.parametrize("more", [{}, {"stream": True}, {"temperature": 0.5, "user": "u"}])
def test_a_call_that_is_not_sampled_is_sent_byte_for_byte(more):
    """As the client sends it without us."""
    with chat_server() as server:
        for client in (client_of(server), wrapped(server, share=0.0)[0]):
            made = client.chat.completions.create(**ASKED, **more)
            list(made)
        assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
        {"response_format": {"type": "json_object"}},
        {"n": 2},
        {"logprobs": True},
        {"stop": ["."]},
        {"seed": 1},
        {"max_tokens": 16},
        {"extra_body": {"guided_json": {}}},
    ],
)
def test_a_call_that_a_marker_would_break_is_left_alone(more):
    """Byte for byte too, and counted."""
    with chat_server() as server:
        client, reports = wrapped(server)
        ask(client_of(server), **more)
        ask(client, **more)
        assert server.bodies[0] == server.bodies[1]
        assert probe.counts(client) == {"left-alone": 1, "watched": 1}
    assert reports == []


def test_a_limit_on_the_answer_leaves_room_for_the_marker():
    """So that the caller's own limit is not cut short by it."""
    with chat_server() as server:
        ask(wrapped(server)[0], max_tokens=1000, n=1)
        assert json.loads(server.bodies[0])["max_tokens"] == 1048


def test_two_calls_whose_answers_are_mixed_are_both_leaks_that_name_each_other():
    """From two threads at once; the caller of each gets no marker."""
    with chat_server(mixed=threading.Barrier(2)) as server:
        client, reports = wrapped(server, owner=lambda call: call["user"])
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda user: ask(client, user=user), ["ada", "bob"]))
    assert answers == [SAID, SAID]
    assert {(one.owner, one.result.verdict, one.result.foreign[0].planted_by) for one in reports} == {
        ("ada", "leak", "bob"),
        ("bob", "leak", "ada"),
    }


def test_an_answer_to_a_call_without_a_marker_can_be_a_leak_too():
    """It is looked at, and passed on as it came."""
    memory = Memory()
    with chat_server() as server:
        ask(wrapped(server, registry=memory)[0])
        client, reports = wrapped(server, share=0.0, registry=memory)
        server.answer = lambda _: f"{SAID} {server.markers[0]}"
        assert ask(client) == f"{SAID} {server.markers[0]}"
        assert "".join(streamed(client)) == f"{SAID} {server.markers[0]}"
        assert probe.counts(client) == {"leak": 2}
    assert [(one.sampled, one.result.foreign[0].planted_by) for one in reports] == [(False, "call 1")] * 2


def test_a_server_that_drops_the_marker_loses_it():
    """The answer is what it was."""
    with chat_server(silent=True) as server:
        client, reports = wrapped(server)
        assert (ask(client), "".join(streamed(client))) == (SAID, SAID)
    assert [one.result.verdict for one in reports] == ["lost", "lost"]


def test_a_stream_is_stripped_wherever_the_marker_is_cut():
    """Each size of chunk, synchronous and asynchronous; and no chunk is lost."""
    with chat_server() as server:
        client, _ = wrapped(server)
        other = probe.wrap(openai.AsyncOpenAI(base_url=server.url, api_key="k"), share=1.0)

        async def all_sizes():
            async with other as opened:
                for size in range(1, 64, 3):
                    server.chars_a_chunk = size
                    assert "".join(streamed(client)) == SAID
                    stream = await opened.chat.completions.create(**ASKED, stream=True)
                    assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == SAID
                whole = await opened.chat.completions.create(**ASKED)
                assert whole.choices[0].message.content == SAID

        asyncio.run(all_sizes())
        assert probe.counts(client) == {"clean": 21}
        assert probe.counts(other) == {"clean": 22}


def test_a_caller_who_stops_reading_gets_no_verdict_but_inconclusive():
    """And the connection is given back."""
    with chat_server() as server:
        client, reports = wrapped(server)
        with client.chat.completions.create(**ASKED, stream=True) as stream:
            next(stream)
    assert [one.result.verdict for one in reports] == ["inconclusive"]


def test_a_stream_that_breaks_ends_in_its_own_error_and_loses_no_text():
    """What was held back comes first."""
    with chat_server(breaks_at=3, chars_a_chunk=5) as server:
        client, reports = wrapped(server)
        got = []
        with pytest.raises(openai.APIError, match="worker lost"):
            got.extend(chunk.choices[0].delta.content for chunk in client.chat.completions.create(**ASKED, stream=True))
    assert "".join(got) == "It is 42.\n\n**Ca"
    assert [one.result.verdict for one in reports] == ["inconclusive"]


def test_a_call_that_is_refused_for_its_marker_is_made_without():
    """A prompt that only just fits is answered."""
    with chat_server(refuses_markers=True) as server:
        client, reports = wrapped(server)
        assert ask(client) == SAID
        assert not MARKER.search(server.bodies[1].decode())
        assert probe.counts(client) == {"refused": 1, "watched": 1}

        async def asked_again():
            async with probe.wrap(openai.AsyncOpenAI(base_url=server.url, api_key="k"), share=1.0) as other:
                return await other.chat.completions.create(**ASKED)

        assert asyncio.run(asked_again()).choices[0].message.content == SAID
    assert reports == []


def test_a_client_that_tries_again_sends_the_same_marker():
    """One call is one canary, however often the client sends it."""
    with chat_server(busy=2) as server:
        client, _ = wrapped(server, max_retries=3)
        assert ask(client.with_options(timeout=30)) == SAID
        assert len(server.bodies) == 3
        assert len(set(server.bodies)) == 1
        assert probe.counts(client) == {"clean": 1}


def test_a_fault_of_the_canary_leaves_the_call_as_it_was():
    """A registry that fails, and a callback that raises."""

    def raises(_):
        raise ValueError("mine")

    with chat_server() as server:
        broken = probe.wrap(client_of(server), share=1.0, registry=Broken())
        assert ask(broken) == SAID
        assert "".join(streamed(broken)) == SAID
        assert probe.counts(broken)["fault"] == 2
        assert not MARKER.search(server.bodies[0].decode())
        told = probe.wrap(client_of(server), share=1.0, on_report=raises)
        assert ask(told) == SAID
        assert "".join(streamed(told)) == SAID
        assert probe.counts(told) == {"clean": 2, "fault": 2}


def test_a_conversation_goes_on_with_answers_as_the_client_gave_them():
    """Earlier answers as objects, contents in parts; what the caller keeps never has a marker in it."""
    parts = [{"type": "text", "text": "One. Two."}, {"type": "text", "text": "Three?"}]
    with chat_server() as server:
        client, reports = wrapped(server)
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
        for _ in range(3):
            made = client.chat.completions.create(model="m", messages=messages)
            messages += [made.choices[0].message, {"role": "user", "content": "And then?"}]
        assert probe.counts(client) == {"clean": 3}
        assert len(set(server.markers)) == 3
    assert parts == [{"type": "text", "text": "One. Two."}, {"type": "text", "text": "Three?"}]
    assert [message.content for message in messages if not isinstance(message, dict)] == [SAID] * 3
    assert reports[0].prompt_chars == len("Be brief.\nOne. Two.\nThree?")


def test_counts_are_metrics_that_begin_at_nothing():
    """Each outcome from the start; and a setting of the client reaches the client."""
    registry = CollectorRegistry()
    with chat_server() as server:
        plain = client_of(server)
        client = probe.wrap(plain, share=1.0)
        registry.register(probe.collector(client))
        client.timeout = 5.0
        ask(client)
    assert plain.timeout == 5.0
    assert registry.get_sample_value("kvfence_canary_calls_total", {"outcome": "clean"}) == 1
    assert registry.get_sample_value("kvfence_canary_calls_total", {"outcome": "leak"}) == 0


def test_wrong_use_is_told_in_one_line():
    """A share that is none, what is no client, and counts of a client that was not wrapped."""
    with pytest.raises(UsageError, match="from 0 to 1"):
        probe.wrap(openai.OpenAI(api_key="k"), share=5)
    with pytest.raises(UsageError, match=r"no chat\.completions"):
        probe.wrap(object())
    with pytest.raises(UsageError, match=r"probe\.wrap returned"):
        probe.counts(openai.OpenAI(api_key="k"))
