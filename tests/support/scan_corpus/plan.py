"""What a corpus is made of: its size, its seed, and what its truth says of each exchange that is not plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole of what decides a corpus, but for the public texts of the machine."""

    seed: int
    size_bytes: int
    """About so many: it ends with the exchange that reaches it."""
    tenants: int = 60
    leaks: float = 0.02
    """Of the exchanges that could carry one."""
    bare: float = 0.0
    """Of the planted leaks, so many verbatim, 64 bytes and longer: what a scan must never miss."""
    public_bytes: int = 24 << 20
    """Of the texts found on this machine so many are read."""
    prompt_bytes: int = 9_000
    """The middle size of a prompt's own text; a few are 40 times as long."""


class Garbling(StrEnum):
    """What is done to a stretch before it stands in somebody else's answer."""

    VERBATIM = "verbatim"
    DROPPED = "every n-th word dropped"
    RECASED = "case and spaces changed"
    TRANSLATED = "translated word by word"
    INTERLEAVED = "interleaved with own text"


class Kind(StrEnum):
    """Why an exchange is in the truth: a leak, or something innocent that looks like one."""

    LEAK = "leak"
    RARE_DOCUMENT = "two tenants quote one rare document"
    OWN_PROMPT = "the answer quotes its own prompt"
    EARLIER_REQUEST = "the answer quotes an earlier request of its tenant"
    RETRY = "the same prompt again"
    RESENT = "an agent resends its transcript"
    SAME_QUESTION = "two tenants ask the same and get the same"
    RECITED = "the answer recites a text that many tenants quote"
    RECITED_RARE = "the answer recites a public text that few tenants quote"
    """From the log alone it cannot be told from somebody's own text."""
    PHRASE = "the answer has a phrase of every model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is known of one exchange. A leak has all of it; what is innocent has its kind and its id."""

    kind: Kind
    response_id: str
    tenant: str
    source_id: str | None = None
    source_tenant: str | None = None
    source_part: str | None = None
    """`prompt` or `answer`."""
    garbling: Garbling | None = None
    span_bytes: int = 0
    """Of the stretch that was taken."""
    run_bytes: int = 0
    """Of the longest piece of it that is still the same in the answer."""
    secrets: int = 0
    """Lines with a credential in the stretch."""

    @property
    def across_tenants(self) -> bool:
        """Whether it is another tenant's."""
        return self.source_tenant is not None and self.source_tenant != self.tenant

    def row(self) -> Mapping[str, Any]:
        """As a line of the file of the truth."""
        return asdict(self)
