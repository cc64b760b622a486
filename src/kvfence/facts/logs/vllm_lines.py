"""vLLM's messages, 0.2.7 to 0.33.0, one row each, read from the engine's source; versions are in `docs/log-lines.md`.

A row is looked for in this order, and the first that fits is the line's meaning. A message that quotes (`model's`)
reaches these patterns without its apostrophe: see `vllm.read`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvfence.facts.fact import Kind
from kvfence.facts.logs.saying import happens, messages, numbers, text, that
from kvfence.facts.logs.statement import ASKED, COUNT, Happened, Said, number

_NUMBER = r"(?<![\w.,-])([0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})"
"""With thousands set apart, as V1 prints it, or plain. `229,28520` is neither, and no number is read from it."""
LOGO = "  version "
"""Behind the last block of vLLM's banner."""
_TOKENS = rf"{_NUMBER} tokens"
_BLOCKS = rf"# (?:GPU|cuda|cpu|CPU|rocm|xpu|hpu|tpu|neuron|npu) blocks: {COUNT}"
_TO_SERVE = r"To serve at least one request with the models? s"


def _too_small(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("context.line", number(match[1]))
    yield Said("stored", number(match[2]))
    yield Happened(Kind.WILL_NOT_START)


def _needs_more(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Said("context.line", number(match[1]))
    if match[2]:
        yield Said("estimated", number(match[2]))
    yield Happened(Kind.WILL_NOT_START)


def _ignored(match: re.Match[str]) -> Iterator[Said | Happened]:
    yield Happened(Kind.REFUSED, number(match[1]))


def _hybrid(match: re.Match[str]) -> Iterator[Said]:
    yield Said("block_size.line", number(match[1]))
    yield Said("hybrid", value=True)


SIZES = messages(
    (
        "KV cache size: ",
        rf"\b(?:[A-Z]{{3}}(?: \+ host)? )?KV cache size: {_TOKENS}(?:, Maximum concurrency for {_TOKENS} per request)?",
        numbers("pool", "context.line"),
    ),
    ("Maximum concurrency for", rf"\bMaximum concurrency for {_TOKENS} per request", numbers("context.line")),
    ("GPU blocks: ", _BLOCKS, numbers("blocks")),
    ("CPU blocks: ", _BLOCKS, numbers("blocks")),
    ("num_gpu_blocks is", rf"num_gpu_blocks is: {COUNT}", numbers("blocks")),
    (
        "stored in KV cache (",
        rf"max seq len \({COUNT}\) is larger than the maximum number of .* stored in KV cache \({COUNT}\)",
        _too_small,
    ),
    (
        "To serve at least one request",
        rf"{_TO_SERVE} max seq len \({COUNT}\)(?:.* the estimated maximum model length is {COUNT})?",
        _needs_more,
    ),
    ("Using max model len", rf"\bUsing max model len {COUNT}", numbers("context.model")),
    ("server version", r"\bvLLM (?:API )?server version v?(\d+\.\d+[\w.+-]*)", text("version")),
    (LOGO, r"█  version v?(\d+\.\d+[\w.+-]*)", text("version")),
    (
        "attention block size to",
        rf"\bSetting attention block size to {COUNT} tokens to ensure that attention page size is >= mamba page size",
        _hybrid,
    ),
    ("attention block size to", rf"\bSetting attention block size to {COUNT} tokens", numbers("block_size.line")),
    (
        "kv cache block size to",
        rf"\b(?:Forcing|Setting) kv cache block size to {COUNT}",
        numbers("block_size.line"),
    ),
    ("Padding mamba page size", r"\bPadding mamba page size by ", that("hybrid")),
    (
        "Hybrid KV cache manager",
        r"\bHybrid KV cache manager is disabled for this hybrid model",
        that("hybrid"),
    ),
    ("data type to store kv cache", r"\bUsing (fp8\w*) data type to store kv cache", text("kv_dtype.line")),
    ("v1 connector with name", r"\bCreating v1 connector with name: (\w+)", text("connector")),
    ("attention backend out of", r"\bUsing (\w+) attention backend out of potential backends", text("backend")),
    ("backend on V1 engine", r"\bUsing ([\w -]{2,30}) backend on V1 engine", text("backend")),
    ("Graph capturing finished", r"\bGraph capturing finished in ", that("graph.line")),
)
"""What a server finds out about itself while it starts."""

EVENTS = messages(
    (
        "Potentially invalid KV blocks",
        r"\bPotentially invalid KV blocks for unrecognized request(?: (?P<request>[\w.:-]{1,80}) were)?",
        happens(Kind.EXPIRED_READ),
    ),
    (
        "Releasing expired KV blocks",
        r"\bReleasing expired KV blocks(?: for request (?P<request>[\w.:-]{1,80}) which)?",
        happens(Kind.RELEASED_UNDRAINED),
    ),
    (
        "is too long and exceeds",
        rf"\bInput prompt \({ASKED} tokens\)(?: \+ lookahead slots \({COUNT}\))? is too long and exceeds ",
        _ignored,
    ),
)
"""What happens while a server runs."""
