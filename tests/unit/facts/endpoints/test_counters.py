"""What a server's counters say has happened on it, asked over a real socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.facts.endpoints.fetch import Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from kvfence.facts.fact import Kind
from support.endpoint_servers import Reply, engine, sglang, vllm

PATIENT = Access(page_s=30.0, target_s=60.0)
RELEASE = "sglang:decode_deferred_kv_release_total"
EXPIRED, LATE = "vllm:nixl_num_kv_expired_reqs_total", "vllm:nixl_num_notifications_after_expiry_total"
LINE = "[2026-12-01 10:00:00 TP0] Deferred KV release for room 7 timed out after 30s without a full drain ack\n"


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (f'{RELEASE}{{outcome="drained"}} 9.0\n', []),
        (f'{RELEASE}{{outcome="timeout"}} 0.0\n', []),
        (f'{RELEASE}{{outcome="timeout",tp_rank="0"}} 2.0\n{RELEASE}{{outcome="error"}} 1.0\n', [2]),
        (f'{RELEASE}{{outcome="timeout",dp="0"}} 2.0\n{RELEASE}{{outcome="timeout",dp="1"}} 1.0\n', [3]),
        (f'{RELEASE}{{outcome="timeout"}} NaN\n', []),
        (f'{RELEASE}_created{{outcome="timeout"}} 17.0\n', []),
    ],
)
def test_sglang_counts_what_it_released_undrained(metrics: str, expected: list[int]):
    """A release that timed out is a page that may have been written to later; one that drained is not."""
    with engine({**sglang("0.5.23-decode"), "/metrics": metrics.encode()}) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    assert [what.count for what in node.happenings.values()] == expected
    assert set(node.happenings) <= {Kind.RELEASED_UNDRAINED}


def test_vllm_counts_what_expired_and_what_was_read_after_it():
    """Both counters of the NIXL connector are findings, each with its page and its figure as evidence."""
    pages = vllm('block_size="16",num_gpu_blocks="573"')
    counters = f'{EXPIRED}{{engine="0"}} 4.0\n{LATE}{{engine="0"}} 1.0\n'
    metrics = pages["/metrics"]
    assert not isinstance(metrics, Reply)
    with engine({**pages, "/metrics": metrics + counters.encode()}) as server:
        found = {finding.rule: finding for finding in inspect([server.url]).findings}
    assert found["deferred-release-timeout"].message.startswith("4 times since this server started")
    (seen,) = found["expired-blocks-read"].evidence
    assert (seen.file, seen.text) == (f"{server.url}/metrics", f"{LATE} = 1")


@pytest.mark.parametrize(("counted", "told"), [(1, "1 times in this log"), (5, "5 times since this server started")])
def test_a_log_is_believed_before_a_counter_unless_the_counter_has_more(tmp_path: Path, counted: int, told: str):
    """Of one node's log and endpoint, the log names the rooms; a log that was cut knows of fewer."""
    log = tmp_path / "decode.log"
    start = "[2026-12-01 09:00:00] server_args={'disaggregation_mode': 'decode', 'port': 31002}\n"
    log.write_text(start + LINE)
    metrics = f'{RELEASE}{{outcome="timeout"}} {counted}\n'
    with engine({**sglang("0.5.23-decode"), "/metrics": metrics.encode()}) as server:
        result = inspect([server.url, log])
    assert len(result.nodes) == 1
    (message,) = [finding.message for finding in result.findings if finding.rule == "deferred-release-timeout"]
    assert message.startswith(told)
