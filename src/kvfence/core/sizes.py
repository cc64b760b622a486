"""Tokens and pages are different units; these are the divisions between them, each by its name.

Ceiling: how many pages hold so many tokens. Floor: how many whole pages so many tokens fill. A third, exact one does
not exist here: nothing in the handoff may assume that a prompt ends where a page ends.
"""


def pages_ceiling(tokens: int, page_size: int) -> int:
    """Pages that are touched by `tokens` slots, the last one perhaps in part."""
    return -(-tokens // page_size)


def pages_floor(tokens: int, page_size: int) -> int:
    """Pages that `tokens` slots fill to the end."""
    return tokens // page_size
