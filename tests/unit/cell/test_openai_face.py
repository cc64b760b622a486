import json
import re

import httpx
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cell import openai_app
from kvfence.cell.asks import Faulted, Finished, Piece, Refused
from kvfence.cell.openai_replies import Reply
from support.face import NaiveEngine, facing

END = Finished(reason="stop", prompt_tokens=2, completion_tokens=3, cached_tokens=1)
FAULT = Faulted(check="I2-count", message="8 pages were reserved, 1 came")
PATHS = {"/v1/completions": {"prompt": "ab"}, "/v1/chat/completions": {"messages": [{"role": "user", "content": "ab"}]}}


@pytest.fixture(scope="module")
def naive():
    engine = NaiveEngine()
    with facing(engine) as root:
        yield root, engine


def client(root, key="key"):
    return openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0, timeout=30)


def texts_of(lines):
    """The texts of a stream's events, and whether it ended as a stream should."""
    events = [line.removeprefix("data: ") for line in lines if line]
    chunks = [json.loads(event) for event in events if event != "[DONE]"]
    return [chunk["choices"][0].get("text", "") for chunk in chunks if chunk.get("choices")], events[-1] == "[DONE]"


@pytest.mark.parametrize("stream", [False, True])
def test_the_official_client_is_answered(naive, stream):
    """Chat and completion, whole and streamed, say the same."""
    root, _ = naive
    chat = client(root).chat.completions.create(
        model="induction", messages=[{"role": "user", "content": "pin 4711; pin "}], max_tokens=4, stream=stream
    )
    plain = client(root).completions.create(model="induction", prompt="pin 4711; pin ", max_tokens=4, stream=stream)
    if stream:
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chat) == "4711"
        assert "".join(chunk.choices[0].text for chunk in plain) == "4711"
    else:
        assert chat.choices[0].message.content == plain.choices[0].text == "4711"


@settings(deadline=None)
@given(st.lists(st.binary(max_size=5), max_size=8))
def test_text_is_the_same_however_the_bytes_come(pieces):
    """Characters split over pieces stay whole, and what is no UTF-8 is replaced alike."""
    reply = Reply("completion", "induction")
    text = "".join(reply.text(piece) for piece in pieces) + reply.text(b"", last=True)
    assert text == b"".join(pieces).decode("utf-8", "replace")


def test_bytes_that_are_no_text_are_equal_whole_and_streamed():
    """Replacement characters come at the same places over HTTP too."""
    says = (Piece(b"\xff\xe2"), Piece(b"\x82"), Piece(b"\xac \xe2\x82"), END)
    with facing(NaiveEngine(says=says)) as root:
        whole = httpx.post(f"{root}/v1/completions", json={"prompt": "ab"}).json()["choices"][0]["text"]
        with httpx.stream("POST", f"{root}/v1/completions", json={"prompt": "ab", "stream": True}) as response:
            streamed, ended = texts_of(response.iter_lines())
    assert (whole, ended) == ("\ufffd€ \ufffd", True)
    assert "".join(streamed) == whole


def test_usage_comes_at_the_end_of_a_stream_only_when_asked_for():
    """The figures are the engine's own."""
    with facing(NaiveEngine(says=(Piece(b"abc"), END))) as root:
        ask = {"model": "induction", "prompt": "ab", "stream": True}
        plain = list(client(root).completions.create(**ask))
        counted = list(client(root).completions.create(**ask, stream_options={"include_usage": True}))
    assert [chunk.usage for chunk in plain if chunk.usage] == []
    usage = counted[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens) == (2, 3, 1)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("path", "field"), [("/v1/completions", "prompt"), ("/v1/chat/completions", "messages")])
def test_a_refusal_is_a_400_with_both_figures_and_the_gate(path, field, stream):
    """Streaming or not: it comes before anything of a stream."""
    refused = Refused(asked_tokens=7100, prompt_tokens=7000, usable_tokens=6400, gate="prefill")
    with facing(NaiveEngine(says=(refused,))) as root:
        response = httpx.post(root + path, json={**PATHS[path], "max_tokens": 100, "stream": stream})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "context_length_exceeded")
    assert (error["type"], error["param"]) == ("invalid_request_error", field)
    assert all(word in error["message"] for word in ("7000", "6400", "100 new", "prefill"))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_a_fault_before_any_text_is_a_500_that_names_the_check(path, stream):
    """I8: no text, and the check is the code."""
    with facing(NaiveEngine(says=(FAULT,))) as root:
        response = httpx.post(root + path, json={**PATHS[path], "stream": stream})
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "I2-count"


def test_a_fault_after_some_text_takes_the_whole_answer_with_it():
    """An answer that is not streamed has no half."""
    with facing(NaiveEngine(says=(Piece(b"half"), FAULT))) as root:
        response = httpx.post(f"{root}/v1/completions", json={"prompt": "ab"})
    assert response.status_code == 500
    assert "half" not in response.text


def test_a_fault_within_a_stream_is_its_last_event():
    """The official client raises; nothing follows, not even the sign of a good end."""
    with facing(NaiveEngine(says=(Piece(b"half"), FAULT))) as root:
        with httpx.stream("POST", f"{root}/v1/completions", json={"prompt": "ab", "stream": True}) as response:
            events = [line for line in response.iter_lines() if line]
        assert json.loads(events[-1].removeprefix("data: "))["error"]["code"] == "I2-count"
        with pytest.raises(openai.APIError):
            list(client(root).completions.create(model="induction", prompt="ab", stream=True))


def test_a_worker_that_is_gone_is_a_503():
    """A client may come back later."""
    with facing(NaiveEngine(says=(Faulted(check="worker-lost", message="decode is gone"),))) as root:
        assert httpx.post(f"{root}/v1/completions", json={"prompt": "ab"}).status_code == 503


def test_an_engine_that_stops_without_an_end_is_an_error():
    """No end, no answer."""
    with facing(NaiveEngine(says=(Piece(b"a"),))) as root:
        assert httpx.post(f"{root}/v1/completions", json={"prompt": "ab"}).status_code == 500


def test_our_own_fault_is_told_in_the_shape_that_clients_know():
    """A 500 without particulars; the traceback is the log's."""
    with facing(NaiveEngine(says=(RuntimeError("particulars"),))) as root:
        response = httpx.post(f"{root}/v1/completions", json={"prompt": "ab"})
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal_error"
    assert "particulars" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/nothing", 404), ("GET", "/v1/completions", 405), ("PUT", "/", 404)]
)
def test_wrong_paths_and_methods_are_answered_in_openais_shape(naive, method, path, status):
    """And a 405 says which method is right."""
    response = httpx.request(method, naive[0] + path)
    assert response.status_code == status
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert ("POST" in response.headers.get("allow", "")) == (status == 405)


def test_a_body_over_the_limit_is_a_413(naive, monkeypatch):
    """It is not read to its end, and not parsed."""
    monkeypatch.setattr(openai_app, "BODY_BYTES_MAX", 1000)
    response = httpx.post(f"{naive[0]}/v1/completions", json={"prompt": "x" * 1000})
    assert (response.status_code, response.json()["error"]["type"]) == (413, "invalid_request_error")
    assert httpx.post(f"{naive[0]}/v1/completions", json={"prompt": "x" * 900}).status_code == 200


def test_a_refusal_counts_no_new_tokens_that_the_client_did_not_ask_for():
    """Where no limit was named, the message names none."""
    refused = Refused(asked_tokens=7001, prompt_tokens=7000, usable_tokens=6400, gate="router")
    with facing(NaiveEngine(says=(refused,))) as root:
        message = httpx.post(f"{root}/v1/completions", json={"prompt": "ab"}).json()["error"]["message"]
    assert "asked for" not in message
    assert "7000 tokens" in message


def test_tokenize_has_a_limit_of_its_own(naive):
    """A body over it is a 413 that says how much; a million tokens are answered."""
    over = httpx.post(f"{naive[0]}/tokenize", json={"prompt": "x" * openai_app.TOKENIZE_BYTES_MAX}, timeout=30)
    assert (over.status_code, str(openai_app.TOKENIZE_BYTES_MAX) in over.text) == (413, True)
    assert httpx.post(f"{naive[0]}/tokenize", json={"prompt": "x" * 1_000_000}, timeout=30).json()["count"] == 1_000_000


def test_the_key_and_the_salt_make_the_tenant(naive):
    """Two keys with one salt are two tenants; the same key and salt are one; no key at all is another."""
    root, engine = naive
    seen = []
    for headers, salt in (
        ({"authorization": "Bearer one"}, "s"),
        ({"authorization": "bearer one"}, "s"),
        ({"authorization": "Bearer two"}, "s"),
        ({}, "s"),
        ({}, None),
    ):
        httpx.post(
            f"{root}/v1/completions", json={"prompt": "ab", "max_tokens": 1, "cache_salt": salt}, headers=headers
        )
        seen.append(engine.asks[-1].tenant)
    assert seen[0] == seen[1]
    assert len(set(seen)) == 4


def test_metrics_are_the_engines_samples(naive):
    """One family a name, whatever the labels, and the usable length beside them."""
    lines = httpx.get(f"{naive[0]}/metrics").text.splitlines()
    assert 'kvfence_reads_total{worker="a"} 2.0' in lines
    assert 'kvfence_reads_total{worker="b"} 2.0' in lines
    assert "kvfence_usable_tokens 4096.0" in lines
    assert sum(bool(re.match(r"# TYPE kvfence_reads", line)) for line in lines) == 1


def test_health_is_the_engines():
    """200 while it is healthy, 503 when it is not."""
    for engine, status in ((NaiveEngine(), 200), (NaiveEngine(waits=True), 503)):
        with facing(engine) as root:
            assert httpx.get(f"{root}/health").status_code == status
