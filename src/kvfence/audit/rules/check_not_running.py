"""A content check is switched on and does not run, or lets requests pass unchecked.

## What it says

- SGLang logged that the KV checksum was skipped because the roles' layouts differ, that the roles registered different
  numbers of metadata buffers, or that the canary skipped a step.
- The settings ask for the KV canary, the log goes on to the pool's headline, and no line `install_canary:` stands
  between them.
- The canary's own line, `[canary] step=`, counts steps and no protected token.
- A decode worker of kvfence's cell has made tokens, and its counter of verified handoffs is not there.

## Why it matters

The check is on in the settings and off in fact. Every version of SGLang that has the canary (0.5.13 to 0.5.23) prints
`install_canary:` when it puts it on the pool, at the same level as the headline and before it. The checksum is silent:
no version has a line or a metric that says "verified", and its warning is printed once per layout, not once for each
request. A checksum that is on and leaves no sign is told as not checked, and decides nothing, since nothing could show
it; a canary of which nothing was seen is inconclusive, since the log shows it.

## How bad

High: everybody believes that requests are checked. Confidence is medium where a line is missing, since a log that was
filtered looks the same.

## What ends it

For the checksum, the same `--disaggregation-enable-kv-checksum`, page size, TP width and PP stages on both roles. For
the canary, the engine as it was released: a fork or a platform with a model runner of its own may never install it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, counted, engine_of, from_endpoint, is_disaggregated, version_below
from kvfence.audit.source_of import Source, source_of
from kvfence.facts.fact import Engine, Kind, NodeFacts
from kvfence.findings.deployment import NotChecked
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "check-not-running"
CODE = "KVF202"
_NEXT_UNREAD = "0.5.24"
"""The first version of which it was not read whether the canary says so."""
_CHECKSUM_SILENT = (
    "whether the KV checksum really compares anything: SGLang has no line and no metric for it; let it fail on "
    "purpose in a test (SGLANG_TEST_DISAGG_KV_CHECKSUM_MISMATCH_PROB, 0.5.23)"
)
_CANARY_UNSEEN = "whether the KV canary was installed is not in {source}; give {how}, where `install_canary:` stands"
_CANARY_IDLE = (
    "whether the KV canary has run yet: it is installed, and prints `[canary] step=` every 100 steps; give a later log"
)
_CELL_UNSEEN = (
    "whether its checks have run is not in its log; give its router's address: /metrics counts what they passed"
)
_CELL_UNUSED = "whether its checks run: it has answered no request yet; ask it again after one"
_CELL_CHECKS = {"I2-count", "I2-digest"}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node that says so of itself, and for each check that shows no sign where it would."""
    for node in deployment.nodes:
        unverified = node.happenings.get(Kind.UNVERIFIED)
        if unverified is not None:
            yield Finding(
                rule=ID,
                severity=Severity.HIGH,
                confidence=Confidence.HIGH,
                node=node.name,
                message=f"Requests pass unchecked although a check is on: it says so {counted(unverified)}.",
                evidence=unverified.seen,
                fix="Set --disaggregation-enable-kv-checksum, --page-size, --tp-size and --pp-size the same on prefill "
                "and on decode.",
            )
    for node in deployment.current():
        if engine_of(node) is Engine.SGLANG and _is_on(node, "kv_canary"):
            yield from _canary(node)
        elif engine_of(node) is Engine.CELL and node.number("handoffs_checked") == 0 and _cell_checks(node):
            yield _finding(
                node,
                f"Its checks ({node.text('checks')}) are on, it has made tokens, and no handoff was verified.",
                ("checks", "handoffs_checked"),
                "Take it out of service, and look in its log for what its requests went through.",
                Confidence.HIGH,
            )


def gaps(deployment: Deployment) -> Iterator[NotChecked]:
    """Checks that are on, and nothing shows that they do anything."""
    for node in deployment.current():
        if not is_disaggregated(node) or node.planned:
            continue
        match engine_of(node):
            case Engine.SGLANG:
                yield from _sglang_gaps(node)
            case Engine.CELL if node.text("role") == "decode" and _cell_checks(node):
                if node.number("handoffs_checked") is None:
                    why = _CELL_UNUSED if from_endpoint(node) else _CELL_UNSEEN
                    yield NotChecked(node.name, why, decisive=False, rules=(ID,))
            case _:
                pass


def _canary(node: NodeFacts) -> Iterator[Finding]:
    installed, protected = node.fact("canary_installed"), node.number("canary_protected_tokens")
    if installed and installed.value is False and _said_by_its_version(node):
        yield _finding(
            node,
            "The KV canary is on by its settings, and the log goes on to the pool without a line that installs it.",
            ("kv_canary", "canary_installed"),
            "Look for install_canary: in the whole log at level info; if it is not there, this build does not run it: "
            "do not count on it.",
            Confidence.MEDIUM,
        )
    elif protected == 0:
        yield _finding(
            node,
            "The KV canary counts its steps and has protected no token.",
            ("kv_canary", "canary_ran", "canary_protected_tokens"),
            "Send a request and look at the next [canary] step= line; if it still says protected_tokens=0, the check "
            "is on and checks nothing.",
            Confidence.MEDIUM,
        )


def _sglang_gaps(node: NodeFacts) -> Iterator[NotChecked]:
    skipped = Kind.UNVERIFIED in node.happenings
    if _is_on(node, "kv_checksum") and not node.fact("checksum_compared") and not skipped:
        yield NotChecked(node.name, _CHECKSUM_SILENT, decisive=False, rules=(ID,))
    if not _is_on(node, "kv_canary") or node.fact("canary_ran") or skipped:
        return
    installed = node.fact("canary_installed")
    if installed is None or (installed.value is False and not _said_by_its_version(node)):
        source = source_of(node)
        how = "the log from its start on" if source is Source.LOG else "its log as well"
        why = _CANARY_UNSEEN.format(source=source, how=how)
        yield NotChecked(node.name, why, rules=(ID,))
    elif installed.value is True:
        yield NotChecked(node.name, _CANARY_IDLE, decisive=False, rules=(ID,))


def _is_on(node: NodeFacts, name: str) -> bool:
    fact = node.fact(name)
    return fact is not None and fact.value not in {False, "none"}


def _said_by_its_version(node: NodeFacts) -> bool:
    """Whether a canary that is installed would have said so: not where the version is known to be a later one."""
    return version_below(node, _NEXT_UNREAD) is not False


def _cell_checks(node: NodeFacts) -> bool:
    return bool(_CELL_CHECKS & set((node.text("checks") or "").split(",")))


def _finding(node: NodeFacts, message: str, facts: tuple[str, ...], fix: str, confidence: Confidence) -> Finding:
    return Finding(
        rule=ID,
        severity=Severity.HIGH,
        confidence=confidence,
        node=node.name,
        message=message,
        evidence=node.evidence(*facts),
        fix=fix,
    )
