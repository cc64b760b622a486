"""What a probe may find, as rules for formats that want one: a name that never changes, how bad it is, what ends it."""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.findings.finding import Confidence, Severity
from kvfence.findings.recall import LengthVerdict
from kvfence.findings.rule_card import RuleCard

_STOP = "Until the cause is known, promise no more than the longest prompt that was answered rightly"


@dataclass(frozen=True, slots=True)
class ProbeRule:
    """One verdict over a length that is a finding."""

    card: RuleCard
    severity: Severity
    confidence: Confidence
    fix: str


def _rule(  # noqa: PLR0917 — a row of the table below
    code: str, name: str, severity: Severity, confidence: Confidence, title: str, fix: str
) -> ProbeRule:
    page = f"{title}\n\nSeverity: {severity}. Confidence: {confidence}.\n\nWhat to do: {fix}"
    return ProbeRule(RuleCard(id=f"probe-{name}", code=code, title=title, page=page), severity, confidence, fix)


PROBE_RULES = {
    LengthVerdict.LEAK: _rule(
        "KVF701",
        "leak",
        Severity.CRITICAL,
        Confidence.HIGH,
        "An answer had a marker that another tenant had planted.",
        f"{_STOP}; `kvfence audit` the logs and addresses of the workers behind it: it names what lets text through.",
    ),
    LengthVerdict.OFF_TOPIC: _rule(
        "KVF702",
        "off-topic",
        Severity.HIGH,
        Confidence.MEDIUM,
        "Status 200, and text that the prompt gives no cause for.",
        f"{_STOP}; stale pages show as drift before a marker does, so `kvfence audit` the workers behind it.",
    ),
    LengthVerdict.GARBLED: _rule(
        "KVF703",
        "garbled",
        Severity.HIGH,
        Confidence.MEDIUM,
        "Status 200, and markers that are changed, made up, or out of order.",
        f"{_STOP}; `kvfence audit` the workers behind it, and ask again with --repeats 10.",
    ),
    LengthVerdict.TRUNCATED: _rule(
        "KVF704",
        "truncated",
        Severity.HIGH,
        Confidence.MEDIUM,
        "Status 200, and a usage that counts fewer prompt tokens than were sent.",
        "Refuse a prompt that is too long with a 4xx; switch automatic truncation off.",
    ),
    LengthVerdict.LOST: _rule(
        "KVF705",
        "lost",
        Severity.HIGH,
        Confidence.MEDIUM,
        "Status 200, and markers of the prompt that did not come back.",
        f"{_STOP}; where another length is clean, it is the server and not the model: `kvfence audit` the workers.",
    ),
    LengthVerdict.REFUSED: _rule(
        "KVF706",
        "limit-overstated",
        Severity.MEDIUM,
        Confidence.HIGH,
        "A prompt that fits into the declared context is refused.",
        "Declare the context that is usable, or give the KV pool room for the one that is declared.",
    ),
}
"""By the verdict over a length. Codes of the audit end at KVF6xx."""
