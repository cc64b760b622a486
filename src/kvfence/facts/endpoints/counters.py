"""What a server's counters say has happened since it started: the same kinds as its log's lines, without requests.

| counter | versions | counts |
| --- | --- | --- |
| `sglang:decode_deferred_kv_release_total{outcome="timeout"}` | SGLang 0.5.22, 0.5.23 | pages released undrained |
| `vllm:nixl_num_kv_expired_reqs_total` | vLLM 0.16 to 0.34 | blocks given up before decode read them |
| `vllm:nixl_num_notifications_after_expiry_total` | vLLM 0.32 to 0.34 | blocks read after that; once a remote rank |
| `kvfence_checks_failed_total` | the cell | what a check caught |

Read in the wheels of these versions. SGLang has no counter for its checksum or its canary (0.5.23): a mismatch counts
as a failed transfer, with all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvfence.facts.endpoints.pages import Metric, Pages
from kvfence.facts.fact import Happening, Kind

_SEEN_MAX = 4


def sglang_happenings(pages: Pages) -> dict[Kind, Happening]:
    """What SGLang counted; each rank of a worker counts its own."""
    name = "sglang:decode_deferred_kv_release_total"
    timeouts = [metric for metric in pages.metrics(name) if metric.labels.get("outcome") == "timeout"]
    return dict(_counted(Kind.RELEASED_UNDRAINED, name, timeouts))


def vllm_happenings(pages: Pages) -> dict[Kind, Happening]:
    """What vLLM's NIXL connector counted, on prefill."""
    names = {
        Kind.RELEASED_UNDRAINED: "vllm:nixl_num_kv_expired_reqs_total",
        Kind.EXPIRED_READ: "vllm:nixl_num_notifications_after_expiry_total",
    }
    return {one: what for kind, name in names.items() for one, what in _counted(kind, name, pages.metrics(name))}


def cell_happenings(pages: Pages, worker: str) -> dict[Kind, Happening]:
    """What one worker of the cell counted."""
    name = "kvfence_checks_failed_total"
    failed = [metric for metric in pages.metrics(name) if metric.labels.get("worker") == worker]
    return dict(_counted(Kind.CHECK_FAILED, name, failed))


def _counted(kind: Kind, name: str, metrics: Sequence[Metric]) -> Iterator[tuple[Kind, Happening]]:
    facts = [fact for metric in metrics if metric.name == name and (fact := metric.count()) and fact.value]
    if facts:
        count = sum(int(fact.value) for fact in facts)
        seen = tuple(fact.seen for fact in facts[:_SEEN_MAX])
        yield kind, Happening(kind=kind, count=count, asked_tokens_max=None, seen=seen)
