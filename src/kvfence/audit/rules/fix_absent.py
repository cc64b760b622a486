"""An engine's source tree lacks a fix, whatever its version says.

## What it says

`kvfence audit --source PATH` read the code of an installed engine, and the code does not do what the fix makes it do.
The decision is made on the syntax tree, from what the code does with a request, so forks, nightlies and backports are
judged by what they are. `docs/source-verdicts.md` has the same decision for published releases.

| fix | what a tree without it does |
| --- | --- |
| prefill-door | sets a refused prompt's placeholder up for transfer like any other request |
| prefill-result-gate | sends what it computed for that placeholder, and decode reads all that it had reserved |
| decode-door | reserves pages for a request that this worker itself has refused |

`no-placeholder` is told in the report and makes no finding: no release has it, and a tree with a door does not need it.

## Why it matters

Without the door and without the gate after the forward pass, a prompt that is too long for prefill and not for decode
is answered from pages of other customers. Either of the two stops that; the door stops it before pages are held.

## How bad

Critical if both are absent. Medium if one of the two stands: nothing leaks, but decode may hold pages for minutes.
Confidence is medium: the tree that was read need not be the one that serves.

## What ends it

Upgrade (SGLang 0.5.22 or later), or apply the fix to this tree, and look again. If a verdict is "cannot tell", the
reason names the file: give a complete, unmodified copy of the tree, or run kvfence with a newer Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kvfence.audit.deployment import Deployment
from kvfence.findings.finding import Confidence, Finding, Severity
from kvfence.findings.source_tree import FixVerdict, Presence, SourceTree

ID = "fix-absent"
CODE = "KVF301"
_UPGRADE = "Upgrade to SGLang 0.5.22 or later, or backport the fix to this tree, then audit the tree again."


@dataclass(frozen=True, slots=True)
class _Lacking:
    severity: Severity
    does: str
    fix: str = _UPGRADE
    instead: str | None = None
    """A fix that stops the same thing at another place: with it, this one weighs less."""
    severity_with_instead: Severity = Severity.MEDIUM


_LACKING = {
    "prefill-door": _Lacking(
        Severity.CRITICAL,
        "a prompt that prefill refuses is set up for transfer as a one-token placeholder",
        instead="prefill-result-gate",
    ),
    "prefill-result-gate": _Lacking(
        Severity.CRITICAL,
        "what prefill computes for a refused prompt's placeholder is sent to decode as the whole prompt",
        instead="prefill-door",
        severity_with_instead=Severity.LOW,
    ),
    "decode-door": _Lacking(
        Severity.LOW, "decode reserves pages and waits for a transfer even for a request that it refused itself"
    ),
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each fix that a tree is known to lack."""
    for tree in deployment.trees:
        for verdict in tree.verdicts:
            lacking = _LACKING.get(verdict.fix)
            if lacking and verdict.presence is Presence.ABSENT and verdict.seen:
                yield _finding(tree, verdict, lacking)


def _finding(tree: SourceTree, verdict: FixVerdict, lacking: _Lacking) -> Finding:
    covered = lacking.instead is not None and tree.has(lacking.instead)
    also = f" {lacking.instead} is in it and stops the leak; pages may still be held for nothing." if covered else ""
    said = f" (it calls itself {tree.version_said})" if tree.version_said else ""
    evidence = [verdict.seen] if verdict.seen else []
    return Finding(
        rule=ID,
        severity=lacking.severity_with_instead if covered else lacking.severity,
        confidence=Confidence.MEDIUM,
        node=tree.name,
        message=f"This {tree.engine} tree{said} lacks {verdict.fix}: {lacking.does}.{also}",
        evidence=tuple(evidence),
        fix=lacking.fix,
    )
