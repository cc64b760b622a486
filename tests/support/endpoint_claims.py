"""What must hold of any answer of a server, however it was changed: the claims that the suite and `make fuzz` share."""

from __future__ import annotations

import json
import random
import re

from kvfence.facts.endpoints.base import parse_base
from kvfence.facts.endpoints.fetch import Page
from kvfence.facts.endpoints.pages import Pages
from kvfence.facts.endpoints.read_endpoint import nodes_of
from kvfence.facts.endpoints.router import workers
from kvfence.facts.fact import FACT_NAMES, NodeFacts
from support.endpoint_servers import as_json, sglang, vllm

BASE = parse_base("http://10.0.0.5:30000")
_INFO_KEPT = (
    *("model_path", "page_size", "disaggregation_mode", "version", "kv_canary", "context_length", "tp_size"),
    *("max_total_num_tokens", "max_req_input_len"),
)
_METRICS = (
    'vllm:cache_config_info{block_size="16",num_gpu_blocks="573",engine="0"} 1.0\n'
    'sglang:max_total_num_tokens{engine_type="prefill"} 681280.0\n'
    'dynamo_frontend_model_total_kv_blocks{model="m"} 2387\ndynamo_frontend_model_kv_cache_block_size{model="m"} 16\n'
    'kvfence_worker_info{worker="prefill-0",role="prefill",pool_tokens="681280",context_length="1048576"} 1.0\n'
    'kvfence_tokens_decoded_total{worker="prefill-0"} 7.0\n'
    'kvfence_handoffs_verified_total{worker="prefill-0",checks="I2-count"} 5.0\n'
    'sglang:decode_deferred_kv_release_total{outcome="timeout"} 3.0\nvllm:nixl_num_kv_expired_reqs_total{} 4.0\n'
)


def _small(which: str) -> bytes:
    """A server's answer, with fewer settings: so that most changes meet a field that is read."""
    info = json.loads(sglang(which)["/server_info"])  # type: ignore[arg-type]  # it is bytes
    ranks = [{"memory_usage": {"token_capacity": info["max_total_num_tokens"], "token_capacity_swa": 64}}]
    return as_json({**{name: info[name] for name in _INFO_KEPT if name in info}, "internal_states": ranks})


ANSWERS: tuple[tuple[str, bytes], ...] = (
    ("/server_info", _small("0.5.23-prefill")),
    ("/server_info", _small("0.5.19-decode")),
    ("/metrics", _METRICS.encode()),
    ("/v1/models", bytes(vllm("", 131072)["/v1/models"])),  # type: ignore[arg-type]  # it is bytes
    ("/props", b'{"default_generation_settings": {"n_ctx": 4096}, "model_path": "/m.gguf"}'),
    (
        "/info",
        b'{"model_id": "m", "max_input_tokens": 1024, "max_total_tokens": 2048, "max_batch_total_tokens": 32000}',
    ),
    ("/metrics", b'[{"kvCacheStats": {"maxNumBlocks": 101256, "tokensPerBlock": 32}}]'),
    ("/workers", b'{"workers": [{"id": "w", "url": "http://10.0.0.6:30000@0", "worker_type": "prefill"}]}'),
)
_SPLICES = (
    *(b"", b"-", b".", b"e9", b"0", b"9" * 40, b"null", b"true", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\0"),
    *(b"\xff", b"\n", b"NaN", b"1e400", b"Infinity", b"\\u0000", b"\\ud800", b" ", "٣".encode(), b"[" * 2000),
)
_DERIVED = {"pool_tokens", "usable_length"}
"""Worked out from two figures, or from one less one; each is held to the figures in its own evidence."""


def a_changed_answer_invents_nothing(rng: random.Random) -> None:
    """A changed answer is read without an error, and a number that is claimed stands in it as a number."""
    path, body = rng.choice(ANSWERS)
    for _turn in range(rng.randint(1, 3)):
        start = rng.randrange(len(body) + 1)
        body = body[:start] + rng.choice(_SPLICES) + body[start + rng.choice((0, 0, 1, 1, 2, 8, 64)) :]
    page = Page(BASE.url(path), rng.choice((200, 200, 200, 200, 500)), body)
    pages = Pages(BASE, {path: page})
    workers(pages)
    for node in nodes_of(pages):
        assert node.facts.keys() <= set(FACT_NAMES)
        assert all(fact.seen.line is None and len(fact.seen.text) < 600 for fact in node.facts.values())
        assert _invented(node, body) == [], body


def _invented(node: NodeFacts, body: bytes) -> list[str]:
    text = body.decode("utf-8", "replace")
    numbers = {float(found) for found in re.findall(r"(?<![\d.])\d{1,16}(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", text)}
    found = []
    for name, fact in node.facts.items():
        if type(fact.value) is not int:
            continue
        products = {one * other for one in numbers for other in numbers} | {one - 1 for one in numbers}
        if (name, fact.value) == ("handoffs_checked", 0):
            continue  # made from a counter that is not there
        if fact.value not in numbers and (name not in _DERIVED or fact.value not in products):
            found.append(f"{name}={fact.value}")
    return found
