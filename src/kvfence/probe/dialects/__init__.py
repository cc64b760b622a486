"""The kinds of endpoint that a probe can speak to, one dialect a file, and the table of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from kvfence.probe.dialects.dialect import Dialect
from kvfence.probe.dialects.openai import CHAT, COMPLETIONS


class Kind(StrEnum):
    """As a file of providers names them."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_COMPLETIONS = "openai-completions"


DIALECTS: Mapping[Kind, Dialect] = {
    Kind.OPENAI_CHAT: CHAT,
    Kind.OPENAI_COMPLETIONS: COMPLETIONS,
}
