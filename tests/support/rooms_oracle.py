"""Whose content lies in which page: the naive store, and the judge over it. Knows nothing of leases, epochs or seals.

Only the names of the roles come from core; what is compared is what a test asked for with what lies in the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kvfence.core.ids import Role

Content = tuple[str, str, int] | None
"""Tenant, story, and which page of the story; None for a page that is clear."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client wants read: its own story, so many pages of it."""

    tenant: str
    story: str
    pages: int


@dataclass
class PageBytes:
    """The pages of both workers, and what was read out of them that should not have been."""

    pages: dict[Role, dict[int, Content]]
    leaks: list[str] = field(default_factory=list)
    """Reads of another tenant's content."""
    wrong: list[str] = field(default_factory=list)
    """Reads of anything but the asker's own story, whole and in order."""

    def scrub(self, role: Role, pages: Iterable[int]) -> None:
        self.pages[role] |= dict.fromkeys(pages)

    def write(self, role: Role, pages: Sequence[int], tenant: str, story: str, first: int = 0) -> None:
        """Content of a story into `pages`, but for the first few, which are there already."""
        for index, page in enumerate(pages):
            if index >= first:
                self.pages[role][page] = (tenant, story, index)

    def of(self, role: Role, pages: Iterable[int]) -> tuple[Content, ...]:
        return tuple(self.pages[role][page] for page in pages)

    def put(self, pages: Sequence[int], content: Sequence[Content]) -> None:
        """Whole pages that came over a wire into decode's."""
        self.pages[Role.DECODE] |= dict(zip(pages, content, strict=True))

    def read(self, who: str, pages: Sequence[int], asked: Asked) -> None:
        """What attention would read through a page table at decode: whose is it?"""
        for index, page in enumerate(pages):
            content = self.pages[Role.DECODE][page]
            if content is not None and content[0] != asked.tenant:
                self.leaks.append(f"{who} of {asked.tenant} reads {content}")
            if content != (asked.tenant, asked.story, index):
                self.wrong.append(f"{who}, page {index}: {content}")
        if len(pages) != asked.pages:
            self.wrong.append(f"{who} reads {len(pages)} pages, not the {asked.pages} that it asked for")
