"""SGLang's messages, 0.3.0 to 0.5.23, one row each, read from the engine's source; versions are in `docs/log-lines.md`.

A row is looked for in this order, and the first that fits is the line's meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvfence.facts.fact import Kind
from kvfence.facts.logs.saying import SayFrom, happens, messages, numbers, request_of, text, that
from kvfence.facts.logs.statement import ASKED, COUNT, Happened, Said, number

_DTYPE = r"(?: dtype: torch\.(?P<dtype>\w+),)"
_POOL = rf"(?:[\w-]+ )?KV [Cc]ache(?: is)? (?:allocated|VA upper bound)\.{_DTYPE}?.*?#tokens: {COUNT}"
_REQUEST = r"Request (?P<request>[\w.:-]{1,80})"
_RID = r".*self\.rid='(?P<request>[\w.:-]{1,80})'"
_WINDOW_POOL = r"Use [Ss]liding window memory pool"
_INFLIGHT = "#inflight-req"


def _headline(match: re.Match[str]) -> Iterator[Said]:
    yield Said("headline.pool", number(match[1]))
    if context := re.search(rf"\bcontext_len={COUNT}", match.string[match.end() :]):
        yield Said("headline.context", number(context[1]))


def _allocated(match: re.Match[str]) -> Iterator[Said]:
    yield Said("allocated", number(match[2]))
    if match["dtype"]:
        yield Said("dtype", match["dtype"])
        yield Said("allocated.dtype", value=True)


def _refused(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("limit", number(match[2]))
    # The front door repeats what the scheduler said of the same request.
    if "[http_server]" not in match.string[: match.start()]:
        yield Happened(Kind.REFUSED, number(match[1]), request_of(match))


def _refused_in_queue(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("queue.limit", number(match[3]))
    yield Happened(Kind.REFUSED, number(match[2]), request_of(match))


def _truncated(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("limit", number(match[2]))
    yield Happened(Kind.TRUNCATED, number(match[1]))


def _caught_by(check: str) -> SayFrom:
    """What a check prints when it catches something, which also shows that it runs."""

    def say(match: re.Match[str]) -> Iterator[Said | Happened]:
        yield Said(check, value=True)
        yield Happened(Kind.CHECK_FAILED, request=request_of(match))

    return say


def _truncated_before(_match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("truncated.old", value=True)
    yield Happened(Kind.TRUNCATED)


def _one_token(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("served", value=True)
    if _INFLIGHT in match.string:
        yield Said("role.line", "prefill")
    yield Happened(Kind.PLACEHOLDER)


SIZES = messages(
    (
        "max_total_num_tokens=",
        rf"\bmax_total_num_tokens={COUNT}(?=, (?:chunked_prefill_size|max_prefill_tokens)=)",
        _headline,
    ),
    (
        "KV pool holds ",
        rf"\bKV pool holds {COUNT} tokens, fewer than --context-length {COUNT}",
        numbers("warned.pool", "warned.context"),
    ),
    (
        "full_layer_tokens=",
        rf"\b(?:Post-capture KV sizing:|{_WINDOW_POOL}\.) full_layer_tokens={COUNT}(?:, swa_layer_tokens={COUNT})?",
        numbers("swa.full", "swa.window"),
    ),
    (
        "memory pool (all SWA)",
        rf"\bUse sliding window memory pool \(all SWA\)\. swa_layer_tokens={COUNT}",
        numbers("swa.window"),
    ),
    (
        "SWAKVPool mem usage",
        rf"\bSWAKVPool mem usage: [\d.]+ GB, swa size: {COUNT}(?:, full size: {COUNT})?",
        numbers("swa.window", "swa.full"),
    ),
    (
        "4 pool sizes: full=",
        rf"\bDS[Vv]4 pool sizes: full={COUNT}(?:, swa={COUNT})?",
        numbers("swa.full", "swa.window"),
    ),
    ("4 memory calculation", rf"\bDS[Vv]4 memory calculation: .*\bfull_token={COUNT}", numbers("swa.full")),
    (
        "Initialize DeepSeekV4",
        rf"\bInitialize DeepSeekV4TokenToKVPool with .*\bswa_size={COUNT}",
        numbers("swa.window"),
    ),
    ("Mamba Cache is", rf"\bMamba Cache is allocated\. max_mamba_cache_size: {COUNT}", numbers("mamba")),
    ("ache is allocated. ", _POOL, _allocated),
    ("ache allocated. ", _POOL, _allocated),
    ("VA upper bound. ", _POOL, _allocated),
    ("Using KV cache dtype", r"\bUsing KV cache dtype: torch\.(\w+)", text("dtype")),
    (
        "for hierarchical KV cache",
        r"\bAllocating [\d.]+ GB host memory for hierarchical KV cache",
        that("hicache.line"),
    ),
    (
        " graph begin",
        r"\bCapture (?:[\w -]{1,30} )?(?:cuda|CUDA) graph begin",
        that("graph.line"),
    ),
)
"""What a server finds out about itself while it starts."""

ROLES = messages(
    ("decode server", r"Radix cache is (?:dis|en)abled for decode server", that("role.line", "decode")),
    ("decode server", r"KV cache is forced as chunk cache for decode server", that("role.line", "decode")),
    ("Prefill parallel info for", r"\bPrefill parallel info for \[", that("role.line", "decode")),
    ("BootstrapServer started", r"BootstrapServer started successfully", that("role.line", "prefill")),
    ("Register prefill bootstrap", r"Register prefill bootstrap: ", that("role.line", "prefill")),
    (
        "Prefill successfully registered",
        r"Prefill successfully registered to bootstrap server",
        that("role.line", "prefill"),
    ),
    ("fired up and ready", r"The server is fired up and ready to roll!", that("served")),
    ("install_canary", r"\binstall_canary: ", that("canary.line")),
    (
        "[canary] step=",
        rf"\[canary\] step={COUNT} protected_tokens={COUNT}(?= )",
        numbers("canary.step", "canary.protected"),
    ),
    ("[canary] sweep succeeded", r"\[canary\] sweep succeeded [0-9]+ times", that("canary.ran")),
)
"""What only one role prints, and what shows that a server serves, or that its canary runs."""

EVENTS = messages(
    (
        "Input length (",
        rf"Input length \({ASKED} tokens\) exceeds the maximum allowed length \({COUNT} tokens\)(?:{_RID})?",
        _refused,
    ),
    (
        "exceeds the maximum number of tokens",
        rf"\b{_REQUEST} exceeds the maximum number of tokens: {ASKED} > {COUNT}",
        _refused_in_queue,
    ),
    (
        "requires too many SWA KV tokens",
        rf"\b{_REQUEST} requires too many SWA KV tokens for decode preallocation: {COUNT} > {COUNT}",
        happens(Kind.REFUSED),
    ),
    (
        "Truncated. len(",
        rf"Truncated\. len\(req\.origin_input_ids\)={ASKED}, max_req_input_len={COUNT}",
        _truncated,
    ),
    (
        "longer than the KV cache pool",
        r"\bRequest length is longer than the KV cache pool size or the max context length\. Truncated!!!",
        _truncated_before,
    ),
    (
        "#new-token: 1, #cached-token: 0,",
        r"\bPrefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0,",
        _one_token,
    ),
    ("KV checksum skipped", r"\bKV checksum skipped: ", happens(Kind.UNVERIFIED)),
    ("metadata buffers", r"\bregistered \d+ metadata buffers but this prefill has \d+", happens(Kind.UNVERIFIED)),
    ("per-forward verify skipped", r"per-forward verify skipped this step due to overflow", happens(Kind.UNVERIFIED)),
    ("canary path is not executing", r"kernel_run_counter did not increase since previous", happens(Kind.UNVERIFIED)),
    (
        "KV checksum mismatch",
        r"\bKV checksum mismatch (?:on a peer rank )?(?:req=(?P<request>[\w.:-]{1,80}))?",
        _caught_by("checksum.compared"),
    ),
    ("kv_canary violation", r"\bkv_canary violation: ", _caught_by("canary.ran")),
    (
        " corruption detected",
        rf"\b(?:Context|Metadata) corruption detected(?:: {_REQUEST})?",
        happens(Kind.CHECK_FAILED),
    ),
    (
        "not ready after readiness gate",
        r"\bMetadata unexpectedly not ready after readiness gate: request (?P<request>[\w.:-]{1,80})",
        happens(Kind.CHECK_FAILED),
    ),
    (
        "Deferred KV release",
        r"\bDeferred KV release for (?P<request>room [\w-]{1,40}) timed out",
        happens(Kind.RELEASED_UNDRAINED),
    ),
)
"""What happens while a server runs."""
