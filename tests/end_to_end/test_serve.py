import json
import signal
import socket
from pathlib import Path

import httpx
import openai
import pytest

from support.programs import assert_one_clear_line, run_kvfence, served, shared_memory_of, wait_until, workers_of


@pytest.fixture(scope="module")
def cell():
    with served("--context", "8192", "--prefill-pool", "6400", "--taint", "raise") as running:
        yield running


def client(url, key="key-a"):
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=60)


def figures(url):
    text = httpx.get(url.removesuffix("/v1") + "/metrics").text
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}


def test_the_model_list_advertises_what_was_measured(cell):
    """I7: max_model_len is the smallest usable length along the path, not the context."""
    url, _ = cell
    assert client(url).models.list().data[0].max_model_len == 6400


def test_the_official_client_gets_a_chat_answer_with_usage(cell):
    """The model recites what stood after the same words before."""
    url, _ = cell
    answer = client(url).chat.completions.create(
        model="induction", messages=[{"role": "user", "content": "pin 4711; pin "}], max_tokens=4
    )
    assert answer.choices[0].message.content == "4711"
    assert answer.choices[0].finish_reason == "length"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (14, 4, 18)


def test_streamed_and_whole_answers_are_equal_and_stop_alike(cell):
    """Streaming changes nothing about the text, the reason or the usage; characters of several bytes stay whole."""
    url, _ = cell
    ask = {
        "model": "induction",
        "messages": [{"role": "user", "content": "größe: 12 µm; ende. größe: "}],
        "max_tokens": 40,
        "stop": ["; e"],
    }
    whole = client(url).chat.completions.create(**ask)
    chunks = list(client(url).chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert whole.choices[0].message.content == text == "12 µm"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


def test_completions_take_text_and_token_ids(cell):
    """/v1/completions with either kind of prompt gives the same answer, streamed or not."""
    url, _ = cell
    text = "abc-123 abc-"
    asked = [
        client(url).completions.create(model="induction", prompt=prompt, max_tokens=3)
        for prompt in (text, list(text.encode()))
    ]
    assert [answer.choices[0].text for answer in asked] == ["123", "123"]
    stream = client(url).completions.create(model="induction", prompt=text, max_tokens=3, stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream) == "123"


def test_a_prompt_over_the_limit_is_a_400_with_both_figures(cell):
    """The official client raises BadRequestError, and the message names prompt and limit."""
    url, lines = cell
    with pytest.raises(openai.BadRequestError) as refused:
        client(url).completions.create(model="induction", prompt="x" * 6500, max_tokens=8)
    assert refused.value.code == "context_length_exceeded"
    assert "6500" in str(refused.value)
    assert "6400" in str(refused.value)
    wait_until(lambda: any("prompt_tokens=6500 usable_tokens=6400" in line for line in lines))


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("chat/completions", {"messages": "hi"}, 400, "messages"),
        ("chat/completions", {"messages": []}, 400, "messages"),
        ("chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "messages"),
        ("chat/completions", {"messages": [{"role": "user", "content": "hi"}], "n": 2}, 400, "n"),
        ("completions", {"prompt": [300]}, 400, "prompt"),
        ("completions", {"prompt": ["a", "b"]}, 400, "prompt"),
        ("completions", {"prompt": ""}, 400, "prompt"),
        ("completions", {"prompt": "hi", "max_tokens": 0}, 400, "max_tokens"),
        ("completions", {"prompt": "hi", "model": "other"}, 404, "model"),
        ("nothing", {}, 404, None),
        ("models", {}, 405, None),
    ],
)
def test_bad_requests_are_answered_in_openais_shape(cell, path, body, status, code):
    """Each names the parameter; none is a 500."""
    url, _ = cell
    response = httpx.post(f"{url}/{path}", json=body)
    assert response.status_code == status
    assert response.json()["error"]["param"] == code
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_a_body_that_is_not_json_is_a_400(cell):
    """One sentence in OpenAI's shape."""
    url, _ = cell
    response = httpx.post(f"{url}/completions", content=b"{nonsense")
    assert response.status_code == 400
    assert "not JSON" in response.json()["error"]["message"]


def test_tokenize_counts_as_the_cell_does(cell):
    """VLLM's form: a prompt or messages in, count and tokens out."""
    url, _ = cell
    root = url.removesuffix("/v1")
    assert httpx.post(f"{root}/tokenize", json={"prompt": "µm"}).json() == {
        "count": 3,
        "max_model_len": 6400,
        "tokens": [194, 181, 109],
    }
    assert httpx.post(f"{root}/tokenize", json={"messages": [{"role": "user", "content": "ab"}]}).json()["count"] == 2


def test_a_client_that_hangs_up_frees_its_pages(cell):
    """In the middle of a stream, and before a whole answer came: every page comes back, nothing else stops."""
    url, _ = cell
    ask = {"prompt": "abc " * 300, "max_tokens": 4000, "stream": True}
    with httpx.stream("POST", f"{url}/completions", json=ask, timeout=60) as response:
        next(response.iter_lines())
    address = httpx.URL(url)
    body = json.dumps({**ask, "stream": False}).encode()
    with socket.create_connection((address.host, address.port)) as raw:
        raw.sendall(
            b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\n\r\n" % len(body) + body
        )
        wait_until(lambda: figures(url)["kvfence_rooms_open"] == 1)
    wait_until(lambda: figures(url)["kvfence_rooms_open"] == 0)
    wait_until(lambda: figures(url)['kvfence_pages{state="free",worker="decode-0"}'] == 256)
    assert client(url).completions.create(model="induction", prompt="ab ab", max_tokens=1).choices[0].text == " "


def test_handoffs_are_counted_as_verified(cell):
    """The positive record: a figure that grows with each answer, not only with failures."""
    url, _ = cell
    name = 'kvfence_handoffs_verified_total{checks="I2-count,I2-digest",worker="decode-0"}'
    client(url).completions.create(model="induction", prompt="abab", max_tokens=1)
    wait_until(lambda: figures(url).get(name, 0) > 0)
    before = figures(url)[name]
    client(url).completions.create(model="induction", prompt="abab", max_tokens=1)
    wait_until(lambda: figures(url)[name] == before + 1)


def test_two_keys_with_the_same_salt_are_two_tenants(cell):
    """A salt splits a key's tenant further and never joins two keys: no prefix is reused across them."""
    url, _ = cell
    prompt = "the same long words again and again; " * 20
    cached = []
    for key, salt in (("one", "s"), ("one", "s"), ("two", "s"), ("one", "t")):
        answer = client(url, key).completions.create(
            model="induction", prompt=prompt, max_tokens=1, extra_body={"cache_salt": salt}
        )
        cached.append(answer.usage.prompt_tokens_details.cached_tokens)
    assert cached == [0, len(prompt) // 64 * 64, 0, 0]


def test_a_port_in_use_is_one_clear_line(cell):
    """It says which address, and what to do."""
    port = httpx.URL(cell[0]).port
    assert_one_clear_line(run_kvfence("serve", "induction", "--port", str(port)), f"127.0.0.1:{port}", "--port")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--rules", "none"), ("--rules 'none'", "fenced", "placeholder")),
        (("--wire", "smoke"), ("--wire", "push", "pull")),
        (("--taint", "raise", "--workers", "process"), ("--taint", "--workers thread")),
        (("--taint", "yes"), ("--taint 'yes'", "raise", "record")),
        (("--wire", "two-sided", "--wire-delay", "20"), ("--wire-delay", "push and pull")),
        (("--prefill-pool", "10"), ("--prefill-pool", "page")),
        (("--port", "99999"), ("--port", "65535")),
    ],
)
def test_options_that_cannot_be_are_one_clear_line(args, words):
    """Unknown names list those there are."""
    assert_one_clear_line(run_kvfence("serve", "induction", *args), *words)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_server(how):
    """However the server ends, its worker processes and its shared memory are gone soon after."""
    with served("--context", "4096", "--workers", "process") as (_, lines):
        process = served.last
        children, segments = workers_of(process), shared_memory_of(process)
        assert len(children) >= 2, lines
        assert segments
        process.send_signal(how)
        process.wait(timeout=30)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
    wait_until(lambda: not any(segment.exists() for segment in segments) or how is signal.SIGKILL)
    assert process.returncode == (-9 if how is signal.SIGKILL else 0)


def test_audit_reads_the_cells_own_log(cell, tmp_path):
    """The lines that a cell prints are a log that audit knows: role, pool, context, checks."""
    log = tmp_path / "cell.log"
    log.write_text("\n".join(cell[1]), encoding="utf-8")
    report = json.loads(run_kvfence("audit", str(log), "--format", "json").out)
    facts = {node["node"]: node["facts"] for node in report["nodes"]}
    assert facts["prefill-0"]["pool_tokens"] == 6400
    assert facts["prefill-0"]["context_length"] == facts["decode-0"]["context_length"] == 8192
    assert {node: fact["role"] for node, fact in facts.items()} == {"prefill-0": "prefill", "decode-0": "decode"}
    assert any(finding["rule"] == "pool-below-context" for finding in report["findings"])
