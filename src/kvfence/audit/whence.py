"""How what is missing of a node can be got, by what it was read from: nobody is sent where he has just come from."""

from __future__ import annotations

from kvfence.audit.deployment import engine_of
from kvfence.audit.source_of import Source, source_of
from kvfence.facts.fact import Engine, NodeFacts

_LOG = "give the log from its start on"
_SAVED = "give its log or its address as well"
_VERSION_OF_SGLANG = "/server_info says the version, its log never does"


def sizes_from(node: NodeFacts) -> str:
    """Its pool and its context."""
    match source_of(node):
        case Source.LIVE:
            return _sizes_live(node)
        case Source.SAVED:
            return _SAVED
        case Source.COMMAND:
            return "start it once and give its log, or its address"
        case Source.LOG:
            return _sizes_logged(node)


def version_from(node: NodeFacts) -> str:
    """The release that it runs."""
    is_sglang = engine_of(node) is Engine.SGLANG
    match source_of(node):
        case Source.LIVE:
            page, other = ("/server_info", "") if is_sglang else ("/version", ", or give its log as well")
            return f"let {page} through, which says the version{other}"
        case Source.SAVED:
            return "save the whole of its /server_info, which says the version, or name its address"
        case Source.COMMAND | Source.LOG if is_sglang:
            return f"name its address as well: {_VERSION_OF_SGLANG}"
        case Source.COMMAND:
            return "start it once and give its log, or its address"
        case Source.LOG:
            return f"{_LOG}, or name its address: /version says it"


def facts_from(node: NodeFacts, names: frozenset[str]) -> str:
    """Facts of any kind, by name."""
    if names == {"engine_version"}:
        return version_from(node)
    match source_of(node):
        case Source.LIVE:
            return f"{_pages(node)}give its log as well, from its start on"
        case Source.SAVED:
            return _SAVED
        case Source.COMMAND:
            return "a launch command does not say it: start it once and give its log, or its address"
        case Source.LOG if "engine_version" in names and engine_of(node) is Engine.SGLANG:
            return f"{_LOG}, and name its address: {_VERSION_OF_SGLANG}"
        case Source.LOG:
            return f"{_LOG}, or name its address as well"


def _pages(node: NodeFacts) -> str:
    """What of a server that answers may have been kept back."""
    match engine_of(node):
        case Engine.SGLANG:
            return "let /server_info and /metrics through, or "
        case Engine.VLLM:
            return "let /metrics, /version and /v1/models through, or "
        case _:
            return ""


def _sizes_live(node: NodeFacts) -> str:
    match engine_of(node):
        case Engine.SGLANG:
            return "let /server_info through, or start it with --enable-metrics, or give its log as well"
        case Engine.VLLM:
            return "let /metrics and /v1/models through, or give its log as well"
        case Engine.TENSORRT_LLM:
            return "its /metrics has the pool after a first request, once; no page has the context"
        case Engine.DYNAMO:
            return "ask the workers behind it"
        case _:
            return "its version does not tell it"


def _sizes_logged(node: NodeFacts) -> str:
    match engine_of(node):
        case Engine.SGLANG:
            return f"{_LOG}: the line with max_total_num_tokens= and context_len= holds both"
        case Engine.VLLM:
            return f"{_LOG}: the lines on KV cache size and maximum concurrency hold both"
        case _:
            return _LOG
