"""The recorded count of the prompt's tokens cannot be that prompt's.

An engine that swaps a refused prompt for a placeholder records 1 token. Far too many are seen where another request's
length is written down. It is right where the count is not the prompt's, whatever became of the answer.
"""

from __future__ import annotations

from math import log2

from kvfence.scan.signs.lengths import byte_count, tokens_least, tokens_most
from kvfence.scan.signs.told import Seen, Told

UNSEEN_TOKENS = 32_768
"""What a provider may add to a prompt where no log has it: templates, tools of its own, pictures, files."""


def usage_disagrees(told: Told) -> Seen | None:
    """Its strength is how many times, as a power of two, the count is under the least or over the most."""
    count = told.prompt_tokens
    if count is None or not told.prompt:
        return None
    size = byte_count(told.prompt)
    if count < size and count < (least := tokens_least(told.prompt)):
        said = f"recorded as {count:,} prompt tokens; its {size:,} bytes make {least:,.0f} at least"
        return Seen(log2(least / max(count, 1)), said)
    most = tokens_most(told.prompt) + UNSEEN_TOKENS
    if told.prompt_is_whole and count > most:
        said = f"recorded as {count:,} prompt tokens; its {size:,} bytes make no more than {most:,} with what is added"
        return Seen(log2(count / most), said)
    return None
