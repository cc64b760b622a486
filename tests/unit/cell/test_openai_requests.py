import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cell.openai_errors import ApiError
from kvfence.cell.openai_requests import ChatRequest, CompletionRequest, TokenizeRequest, as_ask, parsed, tenant_of
from support.face import NaiveEngine

ENGINE = NaiveEngine(usable_tokens=1000)
WHO = st.text(alphabet="a1:/é", max_size=3)
"""Keys and salts of the very characters that join them."""


def asked(body, kind=CompletionRequest, key=""):
    return as_ask(parsed(msgspec.json.encode(body), kind), ENGINE, key)


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1).filter(any))
def test_a_chat_is_its_contents_in_order_and_nothing_after(texts):
    """The template adds no byte; parts of a content are joined like messages."""
    plain = asked({"messages": [{"role": "user", "content": text} for text in texts]}, ChatRequest)
    parts = [{"type": "text", "text": text} for text in texts]
    in_parts = asked({"messages": [{"role": "user", "content": parts}]}, ChatRequest)
    assert plain.prompt == in_parts.prompt == "".join(texts).encode()


@settings(deadline=None)
@given(st.binary(min_size=1))
def test_token_ids_are_bytes_as_they_are(prompt):
    """Any list of ids is that prompt, UTF-8 or not."""
    assert asked({"prompt": list(prompt)}).prompt == prompt


@settings(deadline=None)
@given(st.lists(st.tuples(WHO, st.none() | WHO), unique=True, min_size=2))
def test_different_keys_never_share_a_tenant(whos):
    """Nor do different salts of one key; only no salt and an empty one are the same."""
    who_is = {(key, salt or ""): tenant_of(key, salt) for key, salt in whos}
    assert len(set(who_is.values())) == len(who_is)


def test_a_tenant_is_not_readable():
    """No API key and no salt can be read out of it."""
    tenant = tenant_of("sk-very-secret", "pepper")
    assert "secret" not in tenant
    assert "pepper" not in tenant


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (CompletionRequest, "n", 2),
        (CompletionRequest, "best_of", 3),
        (CompletionRequest, "echo", True),
        (CompletionRequest, "suffix", "end"),
        (CompletionRequest, "logprobs", 0),
        (CompletionRequest, "logit_bias", {"65": 5}),
        (ChatRequest, "n", 0),
        (ChatRequest, "logprobs", True),
        (ChatRequest, "tools", [{"type": "function"}]),
        (ChatRequest, "functions", [{"name": "f"}]),
        (ChatRequest, "response_format", {"type": "json_object"}),
        (ChatRequest, "tool_choice", "required"),
        (ChatRequest, "top_logprobs", 3),
        (ChatRequest, "guided_json", {}),
        (CompletionRequest, "prompt_logprobs", 0),
        (CompletionRequest, "min_tokens", 5),
        (CompletionRequest, "presence_penalty", 0.5),
        (CompletionRequest, "temperature", -1),
        (CompletionRequest, "temperature", "hot"),
        (CompletionRequest, "top_p", 0),
        (CompletionRequest, "seed", "x"),
        (CompletionRequest, "stop", ["x"] * 5),
        (ChatRequest, "stop", "x" * 1025),
        (ChatRequest, "messages", [{"role": "user", "content": ""}]),
    ],
)
def test_what_would_change_the_answer_and_cannot_be_done_is_refused_by_name(kind, field, value):
    """It is not dropped in silence."""
    body = {"prompt": "ab"} if kind is CompletionRequest else {"messages": [{"role": "user", "content": "ab"}]}
    with pytest.raises(ApiError) as refused:
        asked({**body, field: value}, kind)
    assert refused.value.status == 400
    assert refused.value.body["error"]["param"] == field


@pytest.mark.parametrize(
    "harmless",
    [
        {"n": 1, "best_of": 1, "echo": False, "suffix": "", "logit_bias": {}},
        {"n": None, "echo": None, "logprobs": None, "stream": None, "stop": None, "max_tokens": None},
        {"logprobs": False, "tools": [], "functions": [], "response_format": {"type": "text"}},
        {"tool_choice": "none", "top_logprobs": 0, "min_tokens": 0, "presence_penalty": 0, "guided_json": None},
        {"temperature": 0.7, "top_p": 1, "top_k": -1, "seed": 5, "user": "somebody", "a field that nobody knows": [{}]},
    ],
)
def test_what_asks_for_nothing_is_accepted(harmless):
    """Null, the default by name, and unknown fields change nothing."""
    assert asked({"prompt": "ab", **harmless}) == asked({"prompt": "ab"})


@pytest.mark.parametrize("stop", ["end", ["end"], ["", "end"]])
def test_stop_is_one_text_or_several(stop):
    """Empty ones are none."""
    assert asked({"prompt": "ab", "stop": stop}).stop == (b"end",)


def test_a_limit_has_either_name_and_a_default_that_fits():
    """Without a limit 256 tokens are asked for, or what is left, and never less than one."""
    chat = {"messages": [{"role": "user", "content": "ab"}]}
    assert asked({**chat, "max_completion_tokens": 7}, ChatRequest).max_new_tokens == 7
    assert asked({**chat, "max_tokens": 8}, ChatRequest).max_new_tokens == 8
    assert asked(chat, ChatRequest).max_new_tokens == 256
    assert asked({"prompt": "x" * 990}).max_new_tokens == 10
    assert asked({"prompt": "x" * 1001}).max_new_tokens == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"prompt": "\xff"}',
        rb'{"prompt": "\ud800 alone"}',
        b'{"prompt": "ab", "x": ' + b"[" * 100_000,
        b'{"prompt": "ab", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_a_body_that_cannot_be_read_is_a_400(body):
    """Cut off, of the wrong kind, not UTF-8, or nested without end: one sentence."""
    with pytest.raises(ApiError) as refused:
        parsed(body, CompletionRequest)
    assert refused.value.status == 400
    assert refused.value.body["error"]["type"] == "invalid_request_error"


def test_tokenize_takes_what_the_model_takes():
    """A prompt or messages; an empty prompt has no tokens."""
    assert parsed(b'{"prompt": ""}', TokenizeRequest).text() == b""
    with pytest.raises(ApiError):
        parsed(b"{}", TokenizeRequest).text()
