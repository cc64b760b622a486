"""What a rule is: a module of `rules/` with an id, a code, a check, and a docstring that is its page. No rule is here.

A code is `KVF` and three figures. The first says what the rule is about:

| code | about |
| --- | --- |
| KVF1xx | capacity and limits: pools, contexts, truncation |
| KVF2xx | checks of content: off, or on and not running |
| KVF3xx | version and source: an affected release, a fix that this tree lacks |
| KVF4xx | exposure: ports and fields that are open to those who must not use them |
| KVF5xx | seen at run time: refusals, failed checks, pages read too late |
| KVF6xx | drift and disagreement: from a baseline, between two nodes, between what is said and what is |
| KVF7xx | what a probe finds in answers (`report/probe_rules`) |
| KVF8xx | what a scan finds in past traffic (`report/scan_rules`) |

Take the next free one of its hundred, and add it to `tests/corpus/rule-codes.txt`, from which no line is ever removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Protocol

from kvfence.audit.deployment import Deployment
from kvfence.findings.deployment import NotChecked
from kvfence.findings.finding import Finding
from kvfence.findings.rule_card import RuleCard

AskGaps = Callable[[Deployment], Iterator[NotChecked]]


class RuleModule(Protocol):
    """What a module of `rules/` holds; one that alone needs a fact has `gaps(deployment)` as well."""

    ID: str
    CODE: str
    __doc__: str | None

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """What is wrong, each with its evidence."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, by its published id and code: neither ever changes its meaning."""

    id: str
    code: str
    page: str
    """Markdown: what it says, why it matters, what ends it."""
    module: RuleModule

    @classmethod
    def of(cls, module: RuleModule) -> Rule:
        """The rule that a module holds."""
        return cls(id=module.ID, code=module.CODE, page=cleandoc(module.__doc__ or ""), module=module)

    def gaps(self, deployment: Deployment) -> Iterator[NotChecked]:
        """What this rule could not be asked for want of a fact; most leave that to `gaps_of`."""
        ask: AskGaps | None = getattr(self.module, "gaps", None)
        return ask(deployment) if ask else iter(())

    @property
    def title(self) -> str:
        """The page's first sentence."""
        return self.page.partition("\n")[0]

    @property
    def card(self) -> RuleCard:
        """What a report may say of it."""
        return RuleCard(id=self.id, code=self.code, title=self.title, page=self.page)

    def check(self, deployment: Deployment) -> Iterator[Finding]:
        """What is wrong with this deployment, by this rule."""
        return self.module.check(deployment)
