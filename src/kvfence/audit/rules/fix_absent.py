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
| decode-length-check | reads all it had reserved, whatever arrived; no release up to SGLang 0.5.23 has it |
| deferred-release | hands decode's pages on while a remote write into them may still be under way |
| deferred-release-default | has that, and leaves it off unless an environment variable is set |
| kv-checksum | has no digest of what was transferred, so nothing can be switched on |
| kv-canary | has no tag beside each slot; where there is one, it does not start on MLA or DSA pools |
| bootstrap-host-checked | uses the bootstrap host of a client's request; one value reads unwritten pages |
| nixl-block-ids-checked | reads whatever block ids a request names; too few of them end the whole engine |
| nixl-expiry-checked | reads blocks whose time has run out |
| nixl-late-read-fails | notices such a read too late, if at all, and only writes it into the log |
| nixl-lease-renewed | keeps blocks until one fixed date, however long decode waits |

`no-placeholder` is told in the report and makes no finding: no release has it, and a tree with a door does not need it.

## Why it matters

Without the door and without the gate after the forward pass, a prompt that is too long for prefill and not for decode
is answered from pages of other customers. Either of the two stops that; the door stops it before pages are held.

## How bad

Critical if both are absent. Medium if the gate after the forward pass stands alone: nothing leaks that way, but decode
may hold pages for minutes. High where a known way to foreign pages is open and needs something else as well: a race, a
client that can reach decode, a lease that runs out. Medium and low for layers that would have caught it. Confidence is
medium: the tree that was read need not be the one that serves.

## What ends it

Upgrade (SGLang 0.5.22 or later), or apply the fix to this tree, and look again; for what no release has, do what the
finding says. If a verdict is "cannot tell", the reason names the file: give a complete copy of the tree, or run kvfence
with a newer Python.
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
_HOLD_LONGER = (
    "Make the time after which prefill gives blocks up (VLLM_NIXL_ABORT_REQUEST_TIMEOUT, or kv_lease_duration in the "
    'connector\'s extra config) longer than decode ever waits; watch its log for "Potentially invalid KV blocks".'
)


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
    "decode-length-check": _Lacking(
        Severity.MEDIUM,
        "decode does not compare what arrived with what it reserved",
        "Set --disaggregation-enable-kv-checksum on both roles where the tree has it, keep --allow-auto-truncate off, "
        "and give both roles one limit.",
    ),
    "deferred-release": _Lacking(
        Severity.HIGH, "decode's pages go back at once when a transfer fails, while prefill may still write into them"
    ),
    "deferred-release-default": _Lacking(
        Severity.MEDIUM,
        "decode can hold pages back until prefill is quiet, and does not unless it is told to",
        "Set SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE=1 on both roles, or upgrade to SGLang 0.5.22 or later.",
    ),
    "kv-checksum": _Lacking(Severity.MEDIUM, "nothing can compare the KV that arrived with the KV that was sent"),
    "kv-canary": _Lacking(
        Severity.LOW,
        "no tag beside a slot can show that its content is another request's",
        "Upgrade to SGLang 0.5.22 or later; on MLA and DSA pools use the KV checksum instead.",
    ),
    "bootstrap-host-checked": _Lacking(
        Severity.HIGH,
        "a bootstrap host in a request's body is used as it came, and with one value decode reads unwritten pages",
        "Let clients reach only the router, never prefill or decode, and let the router overwrite bootstrap_* fields.",
    ),
    "nixl-block-ids-checked": _Lacking(
        Severity.HIGH,
        "decode reads whatever blocks a request names, and too few of them end the engine",
        "Let only the router reach decode, and let it drop kv_transfer_params that a client sends.",
    ),
    "nixl-expiry-checked": _Lacking(
        Severity.HIGH, "decode reads blocks that prefill has given up, and answers with what stands there", _HOLD_LONGER
    ),
    "nixl-late-read-fails": _Lacking(
        Severity.MEDIUM,
        "a read that came too late is written into prefill's log and answered all the same",
        _HOLD_LONGER,
    ),
    "nixl-lease-renewed": _Lacking(
        Severity.MEDIUM, "blocks are given up at a fixed time, also while decode still waits to read them", _HOLD_LONGER
    ),
}


JUDGED = frozenset(_LACKING)
"""The fixes whose absence is a finding."""


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each fix that a tree is known to lack."""
    for tree in deployment.trees:
        for verdict in tree.verdicts:
            lacking = _LACKING.get(verdict.fix)
            follows = verdict.fix == "deferred-release-default" and not tree.has("deferred-release")
            if lacking and verdict.presence is Presence.ABSENT and verdict.seen and not follows:
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
