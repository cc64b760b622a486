"""The gate: targets against a lock file, as an audit that every format can show. No comparison of facts lives here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import kvfence
from kvfence.audit.baseline.comparison import Pair, findings_of, gaps_of_pair
from kvfence.audit.baseline.direction import GATE_RULES
from kvfence.audit.baseline.lock import Lock, lock_text, read_lock, write_lock
from kvfence.audit.baseline.pairing import Pairing, paired
from kvfence.audit.deployment import Deployment
from kvfence.audit.gaps import gaps_of
from kvfence.audit.inspection import gathered, judged, reported
from kvfence.errors import TargetError
from kvfence.facts.endpoints.fetch import USUAL, Access
from kvfence.facts.fact import NodeFacts
from kvfence.findings.deployment import AuditResult, NotChecked
from kvfence.findings.finding import Finding, Severity
from kvfence.findings.rule_card import RuleCard

TOLERANCE = 0.02
"""By how much a pool may shrink unless somebody says otherwise: what is left over varies between two starts."""

Targets = Sequence[str | PathLike[str]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What `--write` did."""

    result: AuditResult
    """The nodes that were recorded, and what could not be looked at."""
    changed: bool
    """Whether the file differs from what it was."""
    amiss: tuple[Finding, ...]
    """What an audit finds in what was recorded: the gate will hold it as it is."""


def check(targets: Targets, baseline: Path, *, tolerance: float = TOLERANCE, access: Access = USUAL) -> AuditResult:
    """What has moved the wrong way since the baseline.

    Raises:
        TargetError: the lock file or a target cannot be read.
        UsageError: no target was named, or standard input twice.
    """
    lock = read_lock(baseline)
    nodes, unread = gathered(targets, access=access)
    serving = [node for node in nodes if not node.superseded]
    pairing = paired(lock.nodes, serving)
    findings: list[Finding] = []
    gaps: list[NotChecked] = [*unread, *_left_over(pairing, lock)]
    for was, node in pairing.pairs:
        pair = Pair(lock=lock, was=was, node=node, shown=reported(node))
        findings.extend(findings_of(pair, tolerance=tolerance))
        gaps.extend(gaps_of_pair(pair))
    findings.sort(key=lambda finding: tuple(Severity).index(finding.severity))
    return replace(_result(serving, findings, gaps, GATE_RULES), baseline=lock.file)


def record(targets: Targets, baseline: Path, *, access: Access = USUAL) -> Recorded:
    """Write the facts of these targets as the baseline; nothing of `access` gets into it.

    Raises:
        TargetError: the file cannot be written, or there is no node to record.
        UsageError: no target was named, or standard input twice.
    """
    nodes, unread = gathered(targets, access=access)
    serving = [node for node in nodes if not node.superseded]
    if not serving:
        raise TargetError(f"{baseline}: not written, since no node was recognised in {', '.join(map(str, targets))}")
    result = _result(serving, [], [*unread, *gaps_of(Deployment(serving))], ())
    changed = write_lock(baseline, lock_text(result.nodes, kvfence.__version__))
    return Recorded(replace(result, baseline=str(baseline)), changed, judged(serving, ()).findings)


def _result(
    serving: Sequence[NodeFacts],
    findings: Sequence[Finding],
    gaps: Sequence[NotChecked],
    rules: tuple[RuleCard, ...],
) -> AuditResult:
    return AuditResult(
        nodes=tuple(reported(node) for node in serving),
        findings=tuple(findings),
        not_checked=tuple(gaps),
        rules=rules,
    )


def _left_over(pairing: Pairing, lock: Lock) -> Iterator[NotChecked]:
    for was in pairing.missing:
        kind = " ".join(str(was.facts[name]) for name in ("engine", "role") if name in was.facts) or "unknown"
        yield NotChecked(
            was.name,
            f"{lock.file} has this node ({kind}), and none of the targets does; name its log or its address as well, "
            "or write the file anew if it is gone",
        )
    for node in pairing.new:
        kind = " ".join(filter(None, (node.text("engine"), node.text("role")))) or "unknown"
        yield NotChecked(
            node.name, f"it is new: {lock.file} has no node of its kind ({kind}), so it was compared with none"
        )
