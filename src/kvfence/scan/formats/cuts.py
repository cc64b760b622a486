"""What stores put in the place of a text that was too long for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kvfence.scan.exchange import Coverage
from kvfence.scan.formats.bodies.texts import has_files
from kvfence.scan.formats.format import ENCRYPTED, NOTHING, Said

_CUT = re.compile(
    r"\(litellm_truncated skipped \d+ chars"  # LiteLLM's spend logs, MAX_STRING_LENGTH_PROMPT_IN_DB
    r"|\.\.\. \(truncated \d+ chars\)"  # the same, before
    r"|<truncated due to size exceeding limit>"  # Langfuse's clients
)
_CUT_WHOLE = re.compile(r"\[?\"?<truncated due to size exceeding limit>\"?\]?|redacted-by-litellm|\[REDACTED\]")
"""The whole of a text is this: there is none."""
_UNSEEN = 1000
_IN_EACH, _SHORT = "truncated", 100


def with_cuts(said: Said) -> Said:
    """The same text, known to be cut where a store says so in it."""
    if said.coverage is not Coverage.WHOLE:
        return said
    if len(said.text) < _SHORT and _CUT_WHOLE.fullmatch(said.text.strip()):
        return NOTHING
    is_cut = _IN_EACH in said.text and _CUT.search(said.text)  # a plain word is found ten times as fast
    return Said(said.text, Coverage.CUT) if is_cut else said


def with_count(said: Said, tokens: int | None, body: Any) -> Said:
    """The same prompt, known to be cut where more tokens were counted than it has bytes: a token has a byte at least.

    Files, such as images, have tokens and no text, so nothing is said of a body with one. `_UNSEEN` tokens are left for
    what a server adds: a template, its own instructions, those for tools.
    """
    if said.coverage is not Coverage.WHOLE or tokens is None or tokens <= len(said.text) + _UNSEEN:
        return said
    if tokens <= len(said.text.encode()) + _UNSEEN or has_files(body):
        return said
    return Said(said.text, Coverage.CUT) if said.text else said


def stands_for(body: Any) -> Said | None:
    """What a body is that stands for another one; None where it is one itself."""
    if isinstance(body, Mapping):
        if body.get("type") == "encrypted":  # Cloudflare's Logpush
            return ENCRYPTED
        if "helicone_message" in body and not body.keys() & {"messages", "prompt", "choices", "content"}:
            return NOTHING
    return None
