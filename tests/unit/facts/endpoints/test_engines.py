"""What each engine's answers say, asked over a real socket."""

from __future__ import annotations

import pytest

from kvfence.facts.endpoints.fetch import Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from support.audit_logs import values
from support.endpoint_servers import CORPUS, Pages, Reply, as_json, engine, sglang, vllm

PATIENT = Access(page_s=30.0, target_s=60.0)
CONFIG = 'block_size="128",cache_dtype="auto",num_gpu_blocks="{blocks}",kv_cache_size_tokens="{tokens}",engine="{at}"'
DYNAMO = "\n".join(
    f'dynamo_frontend_model_{name}{{model="m"}} {value}'
    for name, value in (("total_kv_blocks", 2387), ("kv_cache_block_size", 16), ("context_length", 40960))
)
CASES: dict[str, tuple[Pages, dict[str, object]]] = {
    "sglang-0.5.19-prefill": (
        sglang("0.5.19-prefill"),
        {
            "engine": "sglang",
            "engine_version": "0.5.19",
            "role": "prefill",
            "pool_tokens": 128,
            "context_length": 512,
            "max_req_input_len": 122,
            "usable_length": 121,
            "page_size": 1,
            "checks": "none",
            "kv_checksum": False,
        },
    ),
    "sglang-0.5.23-decode": (
        sglang("0.5.23-decode"),
        {"role": "decode", "pool_tokens": 512, "usable_length": 505, "allow_auto_truncate": True},
    ),
    "sglang-0.5.23-prefill": (sglang("0.5.23-prefill"), {"port": 31001, "bootstrap_port": 31998, "device": "cpu"}),
    "sglang-old-name": (
        {"/get_server_info": sglang("0.5.19-decode")["/server_info"]},
        {"role": "decode", "pool_tokens": 512},
    ),
    "sglang-smallest-rank": (
        sglang("0.5.19-decode", internal_states=[{"memory_usage": {"token_capacity": n}} for n in (512, 448)]),
        {"pool_tokens": 448},
    ),
    "sglang-context-elsewhere": (
        {
            **sglang("0.5.19-decode", context_length=None),
            "/v1/models": as_json({"data": [{"owned_by": "sglang", "max_model_len": 4096}]}),
        },
        {"context_length": 4096, "pool_tokens": 512},
    ),
    "sglang-metrics-only": (
        {"/metrics": b'sglang:max_total_num_tokens{engine_type="prefill"} 681280.0\nsglang:context_len{} 1048576\n'},
        {"engine": "sglang", "role": "prefill", "pool_tokens": 681280, "context_length": 1048576},
    ),
    "sglang-bootstrap": (
        {
            "/route?prefill_dp_rank=-1&prefill_cp_rank=-1&target_tp_rank=-1&target_pp_rank=-1": as_json(
                {"attn_tp_size": 8, "dp_size": 1, "pp_size": 1, "page_size": 64, "kv_cache_dtype": "fp8_e4m3"}
            )
        },
        {"engine": "sglang", "role": "prefill", "page_size": 64, "kv_dtype": "fp8_e4m3"},
    ),
    "vllm": (
        vllm(CONFIG.format(blocks=8192, tokens=1048576, at=0)),
        {
            "engine": "vllm",
            "engine_version": "0.32.0",
            "pool_tokens": 1048576,
            "context_length": 2048,
            "page_size": 128,
            "model": "tiny/qwen3",
        },
    ),
    "vllm-blocks": (vllm('block_size="16",num_gpu_blocks="573"'), {"pool_tokens": 9168, "page_size": 16}),
    "vllm-role": (
        {
            **vllm('block_size="16"'),
            "/server_info": as_json({"vllm_config": "KVTransferConfig(kv_role='kv_consumer')"}),
        },
        {"role": "decode"},
    ),
    "llama.cpp": (
        {"/props": (CORPUS / "endpoints" / "llama-cpp-2026-10-props.json").read_bytes()},
        {
            "engine": "llama.cpp",
            "role": "unified",
            "pool_tokens": 1024,
            "context_length": 1024,
            "usable_length": 1023,
            "model": "/models/SmolLM2-135M-Instruct.Q4_1.gguf",
        },
    ),
    "tgi": (
        {
            "/info": as_json(
                {"model_id": "m", "max_input_tokens": 1024, "max_total_tokens": 2048, "max_batch_total_tokens": 32000}
            )
        },
        {"engine": "tgi", "pool_tokens": 32000, "context_length": 2048, "usable_length": 1024},
    ),
    "tensorrt-llm": (
        {"/metrics": as_json([{"iter": 1}, {"kvCacheStats": {"maxNumBlocks": 101256, "tokensPerBlock": 32}}])},
        {"engine": "tensorrt-llm", "pool_tokens": 3240192, "page_size": 32},
    ),
    "dynamo": (
        {"/metrics": DYNAMO.encode() + b"\n"},
        {"engine": "dynamo", "pool_tokens": 38192, "context_length": 40960, "model": "m"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_engine_is_recognised_and_read(case: str):
    """Every figure that an engine's pages say is a fact, with the page that it stood on."""
    pages, expected = CASES[case]
    with engine(pages) as server:
        reading = read_endpoint(server.url + "/v1", PATIENT)
    (node,) = reading.nodes
    assert expected.items() <= values(node).items()
    assert all(fact.seen.file.startswith(server.url) and fact.seen.line is None for fact in node.facts.values())


def test_a_fact_names_its_page_and_field():
    """Evidence is the address that was asked, and the field with its value."""
    with engine(sglang("0.5.19-prefill")) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    seen = node.facts["pool_tokens"].seen
    assert (seen.file, seen.text) == (f"{server.url}/server_info", "max_total_num_tokens = 128")


def test_a_figure_that_the_engine_worked_out_says_so():
    """A pool of tokens that is not blocks times block size is told as what it is."""
    with engine(vllm(CONFIG.format(blocks=100, tokens=99999, at=0))) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    assert node.number("pool_tokens") == 99999
    assert "worked out by the engine" in node.facts["pool_tokens"].seen.text


def test_the_smallest_engine_counts():
    """Of several engines behind one server, the smallest pool is the node's."""
    pages = vllm(CONFIG.format(blocks=10, tokens=1280, at=0))
    second = CONFIG.format(blocks=9, tokens=1152, at=1)
    pages["/metrics"] = bytes(pages["/metrics"]) + f"vllm:cache_config_info{{{second}}} 1.0\n".encode()  # type: ignore[arg-type]  # it is bytes
    with engine(pages) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    assert node.number("pool_tokens") == 1152


def test_half_a_metric_is_none():
    """A last line without its newline may be half a number, and is not read."""
    with engine({"/metrics": b"sglang:page_size 64\nsglang:max_total_num_tokens 6812"}) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    assert "pool_tokens" not in node.facts
    assert node.number("page_size") == 64


def test_a_load_balancers_answer_holds_all_its_workers():
    """The small load balancer's `/get_server_info` is a node for each worker."""
    infos = {role: [sglang(f"0.5.19-{role}")["/server_info"]] for role in ("prefill", "decode")}
    body = b'{"internal_states": [], "prefill": [%b], "decode": [%b]}' % (infos["prefill"][0], infos["decode"][0])
    with engine({"/get_server_info": body}) as server:
        nodes = read_endpoint(server.url, PATIENT).nodes
    assert [(node.text("role"), node.number("pool_tokens")) for node in nodes] == [("prefill", 128), ("decode", 512)]


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Reply(body=b"<html>hello</html>"), "with web pages (HTML)"),
        (Reply(body=b"\n <!DOCTYPE html><title>a shop</title>"), "with web pages (HTML)"),
        (Reply(body=b"[]"), "with pages of another kind"),
        (Reply(body=b"null"), "with pages of another kind"),
        (Reply(body=b'{"data": 3}'), "with pages of another kind"),
        (Reply(body=b"\xff\xfe{}"), "with pages of another kind"),
        (Reply(body=b"[" * 100_000), "with pages of another kind"),
        (Reply(body=b"node_cpu_seconds_total 1\n"), "with pages of another kind"),
        (Reply(status=404, body=b"<html>not here</html>"), "with status 404 only"),
        (Reply(status=502), "with status 502 only"),
    ],
)
def test_a_server_that_is_no_engine_is_told_so(reply: Reply, what: str):
    """Whatever answers and speaks as no engine does is no node; nobody is told to switch its metrics on."""
    with engine({"*": reply}) as server:
        (gap,) = read_endpoint(server.url, PATIENT).gaps
    assert gap.startswith(f"this is no inference engine's endpoint: it answers {what}")
    assert "metrics" not in gap


@pytest.mark.parametrize(
    "pages",
    [{"/v1/models": b'{"object": "list", "data": []}'}, {"/model_info": b'{"model_path": "m"}'}],
    ids=["models", "model"],
)
def test_an_engine_that_tells_nothing_of_its_pool_is_told_how_to(pages: dict[str, bytes]):
    """What lists models is an engine, or a proxy before one, also where a web page stands for all the rest."""
    with engine({**pages, "*": b"<html>hello</html>"}) as server:
        reading = read_endpoint(server.url, PATIENT)
    assert reading.nodes == ()
    assert "says nothing about its pool; switch its metrics on" in reading.gaps[0]
