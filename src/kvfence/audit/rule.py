"""What a rule is: a module of `rules/` with an id, a check, and a docstring that is its page. No rule lives here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Protocol

from kvfence.audit.deployment import Deployment
from kvfence.findings.finding import Finding


class RuleModule(Protocol):
    """What a module of `rules/` holds."""

    ID: str
    __doc__: str | None

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """What is wrong, each with its evidence."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, by its published id: an id never changes its meaning."""

    id: str
    page: str
    """Markdown: what it says, why it matters, what ends it."""
    module: RuleModule

    @classmethod
    def of(cls, module: RuleModule) -> Rule:
        """The rule that a module holds."""
        return cls(id=module.ID, page=cleandoc(module.__doc__ or ""), module=module)

    @property
    def title(self) -> str:
        """The page's first sentence."""
        return self.page.partition("\n")[0]

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """What is wrong with this deployment, by this rule."""
        return self.module.check(deployment)
