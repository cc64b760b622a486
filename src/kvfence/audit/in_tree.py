"""Whether an engine's tree that was given beside a node ends an advisory, or lacks what would. No rule lives here.

A record names the fixes that end it, by the ids of `fix-absent`: all of one alternative must be in the tree. A fix that
is only a part of what ends it decides in one direction: where that is absent, the fault is there.

A tree speaks for a node only if it can be what that node runs: what it calls itself is the node's version, or within
its bounds. That is all that a version string is asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kvfence.audit.advisory import Advisory, Hit, Open, judged_by_version
from kvfence.audit.deployment import role_of
from kvfence.facts.fact import NodeFacts
from kvfence.facts.known_version import Exactly, Unplaced, ends, is_older, known_version
from kvfence.findings.finding import Confidence
from kvfence.findings.source_tree import FixVerdict, Presence, SourceTree


@dataclass(frozen=True, slots=True)
class Ended:
    """The node's version has it, and the code that was given does not."""

    advisory: Advisory
    tree: SourceTree
    by: tuple[FixVerdict, ...]


def judged(node: NodeFacts, trees: Sequence[SourceTree]) -> Iterator[Hit | Open | Ended]:
    """Every record that is, or may be, the node's by its version, and what its code says of that."""
    for found in judged_by_version(node):
        advisory = found.advisory
        answers = [_answer(advisory, tree) for tree in trees if tree.engine == advisory.package and may_run(tree, node)]
        lacking = next(((tree, verdicts) for tree, ends, verdicts in answers if ends is False), None)
        if answers and all(ends is True for _tree, ends, _verdicts in answers):
            tree, _ends, verdicts = answers[0]
            yield Ended(advisory, tree, verdicts)
        elif lacking is None:
            yield found
        elif isinstance(found, Open) and found.decisive:
            # Only the version was missing, and the code says more than a version would.
            severity = advisory.database_specific.roles[role_of(node) or ""]
            yield Hit(advisory, severity, Confidence.MEDIUM, *lacking)
        else:
            tree, verdicts = lacking
            yield replace(found, tree=tree, lacks=verdicts)


def may_run(tree: SourceTree, node: NodeFacts) -> bool:
    """Whether that tree can be what the node runs, by what each calls itself; unknown is no contradiction."""
    said = tree.version_said
    if said is None:
        return True
    version = known_version(node.facts)
    if isinstance(version, Exactly | Unplaced):
        return _plain(version.version) == _plain(said)
    oldest, newest = ends(version)
    return not (oldest and is_older(said, oldest)) and not (newest and is_older(newest, said))


def _plain(version: str) -> str:
    return version.removeprefix("v").partition("+")[0]


def _answer(advisory: Advisory, tree: SourceTree) -> tuple[SourceTree, bool | None, tuple[FixVerdict, ...]]:
    """Whether the tree ends it, and the verdicts that say so; None where the tree does not tell."""
    specific = advisory.database_specific
    for fixes in specific.ended_by:
        if all(tree.has(fix) for fix in fixes):
            return tree, True, _verdicts(tree, fixes)
    lacked = tuple(fix for fix in specific.part_of_end if _lacks(tree, fix))
    alternatives = [[fix for fix in fixes if _lacks(tree, fix)] for fixes in specific.ended_by]
    if alternatives and all(alternatives):
        lacked += tuple(fix for fixes in alternatives for fix in fixes)
    return tree, False if lacked else None, _verdicts(tree, lacked)


def _lacks(tree: SourceTree, fix: str) -> bool:
    verdict = tree.verdict(fix)
    return verdict is not None and verdict.presence is Presence.ABSENT


def _verdicts(tree: SourceTree, fixes: Sequence[str]) -> tuple[FixVerdict, ...]:
    return tuple(verdict for fix in fixes if (verdict := tree.verdict(fix)))
