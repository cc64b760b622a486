"""How long a sequence vLLM can serve from its pool. In tokens; a page is vLLM's block.

Its block pool gives block 0 to nobody (`v1/core/block_pool.py`, the null block), so a pool of n blocks serves n - 1.
The check at its start has counted that since vllm-project/vllm#47272 (read in 0.32.0, and seen: nine blocks of 128 and
`--max-model-len auto` give 1,024): a longer context does not start, and the length that it estimates can be set as it
stands. Before, a context of all n blocks starts, and a request of that length waits for ever.

V0 has no such block. It starts with a context of its whole pool, and refuses for good a prompt that leaves fewer than
1 % of its blocks (`core/block_manager.py`, the watermark).
"""

from __future__ import annotations

ESTIMATE_COUNTS_IT_SINCE = "0.32.0"
"""The first version that was read with it."""
ALWAYS_V0_BELOW = "0.8"
_WATERMARK = 0.01
_PAGE_USUAL, _PAGE_ON_CPU = 16, 128


def page_unless_set(device: str | None) -> int:
    """Tokens in a block where neither the settings nor the attention backend ask for others."""
    return _PAGE_ON_CPU if device == "cpu" else _PAGE_USUAL


def served_by_v1(pool_tokens: int, page: int) -> int:
    """The longest sequence that a pool of that size serves; never less than 0."""
    return max(0, pool_tokens // page - 1) * page


def served_by_v0(pool_tokens: int, page: int) -> int:
    """The longest prompt that it does not refuse for good."""
    pages = pool_tokens // page
    return (pages - int(_WATERMARK * pages)) * page
