"""From what the user named to findings: read every target, ask every rule, say what could not be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike, fspath

from kvfence.audit.deployment import Deployment, has_pool
from kvfence.audit.gaps import gaps_of
from kvfence.audit.registry import RULES
from kvfence.audit.rule import Rule
from kvfence.errors import UsageError
from kvfence.facts.endpoints.base import is_url
from kvfence.facts.endpoints.fetch import USUAL, Access
from kvfence.facts.fact import FACT_NAMES, Fact, NodeFacts
from kvfence.facts.known_version import denied
from kvfence.facts.merge import asked_once, merged
from kvfence.facts.read_log import numbered
from kvfence.facts.reading import Reading
from kvfence.facts.source.read_source import read_source
from kvfence.facts.target import STDIN, displayed, node_name, read_files, together
from kvfence.findings.deployment import AuditResult, FactValue, Node, NotChecked
from kvfence.findings.finding import Finding, Severity
from kvfence.findings.redact import as_evidence
from kvfence.findings.source_tree import SourceTree

_WORST_FIRST = tuple(Severity)


def inspect(
    targets: Sequence[str | PathLike[str]],
    *,
    sources: Sequence[str | PathLike[str]] = (),
    rules: Sequence[Rule] = RULES,
    access: Access = USUAL,
) -> AuditResult:
    """Audit log files (`-` is standard input), running servers and engines' source trees as one deployment.

    Raises as `gathered` does, and `TargetError` for a source that is neither a folder nor a wheel; with a source, no
    other target is needed.
    """
    nodes, unread = gathered(targets, access=access) if targets or not sources else ([], [])
    readings = [(name, read_source(name)) for name in dict.fromkeys(fspath(source) for source in sources)]
    trees = [tree for _name, reading in readings for tree in reading.trees]
    hidden = (NotChecked(displayed(name), gap) for name, reading in readings for gap in reading.gaps)
    return judged(nodes, [*unread, *hidden], rules, trees)


def gathered(
    targets: Sequence[str | PathLike[str]], *, access: Access = USUAL
) -> tuple[list[NodeFacts], list[NotChecked]]:
    """The nodes of all targets under names that tell them apart, and what could not be read of these targets.

    Raises:
        TargetError: one of them cannot be read as a log, or does not answer.
        UsageError: none was named, or standard input twice.
    """
    names = [fspath(target) for target in targets]
    if not names:
        raise UsageError("nothing to audit; name a log file, or - for standard input")
    if names.count(STDIN) > 1:
        raise UsageError("standard input was named twice and can be read once; name - once")
    readings = read_files(together(names), access)
    named = [(target, node) for target, reading in asked_once(readings) for node in reading.nodes if has_pool(node)]
    nodes, apart = merged(_told_apart(named))
    short = _shortened([node.name for node in nodes], named)
    nodes = [replace(node, name=short.get(node.name, node.name)) for node in nodes]
    apart = [(short.get(name, name), why) for name, why in apart]
    kept_apart = (NotChecked(name, why, decisive=False) for name, why in apart)
    return nodes, [*_unread(readings), *kept_apart]


def judged(
    nodes: Sequence[NodeFacts],
    unread: Iterable[NotChecked],
    rules: Sequence[Rule] = RULES,
    trees: Sequence[SourceTree] = (),
) -> AuditResult:
    """What the rules say of these nodes and trees. A rule that fails is a gap, never a pass."""
    deployment = Deployment(nodes, trees)
    findings: list[Finding] = []
    missed: list[NotChecked] = []
    failed: list[NotChecked] = []
    for rule in rules:
        try:
            findings.extend(rule.check(deployment))
            missed.extend(rule.gaps(deployment))
        except Exception as error:  # noqa: BLE001 — whatever went wrong in it, the rule has said nothing
            why = f"it failed with {type(error).__name__}: {error}; report it"
            failed.append(NotChecked(f"rule {rule.id}", why, rules=(rule.id,), broken=True))
    findings.sort(key=lambda finding: _WORST_FIRST.index(finding.severity))
    return AuditResult(
        nodes=tuple(reported(node) for node in nodes),
        findings=tuple(findings),
        not_checked=(*unread, *gaps_of(deployment), *missed, *failed),
        rules=tuple(rule.card for rule in rules),
        trees=tuple(trees),
    )


def _told_apart(nodes: Sequence[tuple[str, NodeFacts]]) -> list[NodeFacts]:
    """All nodes under different names: those that two files share get their file's name behind them."""
    targets_by_name: dict[str, set[str]] = {}
    for target, node in nodes:
        targets_by_name.setdefault(node.name, set()).add(target)
    names = [
        node.name
        if len(targets_by_name[node.name]) == 1
        else target
        if node.name == node_name(target)
        else _with_target(target, node)
        for target, node in nodes
    ]
    return [replace(node, name=name) for name, (_target, node) in zip(numbered(names), nodes, strict=True)]


def _with_target(target: str, node: NodeFacts) -> str:
    return f"{node.name} ({target})"


def _shortened(names: Sequence[str], named: Sequence[tuple[str, NodeFacts]]) -> dict[str, str]:
    """The name that a worker gives itself, where those that shared it turned out to be one node."""
    own = {_with_target(target, node): node.name for target, node in named}
    short = [own.get(name, name) for name in names]
    return {name: own[name] for name in names if name in own and short.count(own[name]) == 1}


def _unread(readings: Sequence[tuple[str, Reading]]) -> Iterator[NotChecked]:
    for target, reading in readings:
        if not reading.nodes and not is_url(target):
            yield NotChecked(target, "nothing of SGLang, vLLM or kvfence's cell was recognised in it")
        for gap in reading.gaps:
            yield NotChecked(target, gap)
        for note in reading.notes:
            yield NotChecked(target, note, decisive=False)


def _printable(fact: Fact) -> FactValue:
    """A value as it may be shown: text comes from a log, so it is cut and masked as evidence is."""
    return as_evidence(fact.value) if isinstance(fact.value, str) else fact.value


def reported(node: NodeFacts) -> Node:
    """A node as it may be shown: every fact by name, its texts cut and masked; no range of versions that is none."""
    hidden = denied(node.facts)
    shown = {name: fact for name in FACT_NAMES if (fact := node.fact(name)) and name not in hidden}
    return Node(
        name=node.name,
        facts={name: _printable(shown[name]) if name in shown else None for name in FACT_NAMES},
        sources={name: fact.seen for name, fact in shown.items()},
    )
