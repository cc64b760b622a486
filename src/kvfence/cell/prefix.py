"""Names for what a prompt begins with: one key for each full page, over all tokens up to its end.

Equal keys must mean equal tokens, since a page is reused without looking at it again: so BLAKE2b, chained, and not a
fast hash. The tenant is not in the key; core looks pages up by tenant and key (I6).
"""

from __future__ import annotations

import hashlib

from kvfence.core.ids import PrefixKey
from kvfence.core.wire import DIGEST_BYTES


def prefix_keys(prompt: bytes, page_size: int) -> tuple[PrefixKey, ...]:
    """One key of 16 bytes for each full page of `prompt`."""
    keys: list[PrefixKey] = []
    parent = b""
    for start in range(0, len(prompt) - page_size + 1, page_size):
        parent = hashlib.blake2b(parent + prompt[start : start + page_size], digest_size=DIGEST_BYTES).digest()
        keys.append(PrefixKey(parent))
    return tuple(keys)
