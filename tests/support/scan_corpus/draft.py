"""One exchange as it is made up, before it is written as any API's bodies."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Draft:
    """A request and its answer. It may still change: a leak is put into an answer that was there before."""

    id: str
    at_s: float
    """Since 1970."""
    tenant: str
    session: str
    model: str
    turns: list[tuple[str, str]]
    """Role and text, the system's first."""
    answer: str
    shape: str = "chat"
    status: int = 200
    counted_as_one: bool = False
    """Whether usage says that the prompt had one token."""
    private: list[str] = field(default_factory=list)
    """Texts of the prompt that nobody else has."""
    own_answer: bool = True
    """Whether nobody else has the answer either."""
    may_leak: bool = True
    """Whether another's text may be put into its answer."""
