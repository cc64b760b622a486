"""The only way by which a customer's text, or a secret, gets into a finding: cut, masked, never whole."""

from __future__ import annotations

import re

EVIDENCE_CHARS_MAX = 240
"""A log line is evidence, not a copy of the log."""
SHOWN_CHARS = 4
"""How much of a masked text is shown at its start: enough to find it again, too little to use it."""

_NAME = r"[\w-]*(?:api[_-]?key|(?<![a-z])token|password|passwd|secret|authorization)"
_ASSIGNED = re.compile(
    rf"(?i)(['\"]?\b{_NAME}\b['\"]?\s*[:=]\s*|--{_NAME}[ =]|\bbearer\s+)(['\"]?)(bearer\s+)?([^\s'\",)}}]+)"
)
_IN_URL = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://[^\s:/@]*:)([^\s@/]+)(?=@)")
_NOT_SECRET = re.compile(r"(?i)^(none|null|true|false|\d{1,9}|auto|)$")


def masked(text: str) -> str:
    """The first few characters, then how many were left out."""
    if len(text) <= SHOWN_CHARS:
        return "…" * bool(text)
    return f"{text[:SHOWN_CHARS]}… ({len(text) - SHOWN_CHARS} more)"


def masked_secret(value: str, *, public: int = 0) -> str:
    """What is shown of a secret: the `public` characters that say its kind and four more, a quarter of it at most."""
    shown = min(public + SHOWN_CHARS, len(value) // 4)
    clean = "".join(char if char.isprintable() else " " for char in value[:shown])
    return f"{clean}… ({len(value) - shown} more)"


def without_secrets(text: str) -> str:
    """The text with passwords in URLs, and the values of settings that are named like secrets, masked."""
    return _ASSIGNED.sub(_mask_value, _IN_URL.sub(lambda found: found.group(1) + masked(found.group(2)), text))


def as_evidence(line: str, *, around: int | None = None) -> str:
    """A line as evidence: printable, secrets masked, cut to a window around character `around`."""
    clean = without_secrets("".join(char if char.isprintable() else " " for char in line.strip()))
    if len(clean) <= EVIDENCE_CHARS_MAX:
        return clean
    start = 0 if around is None else max(0, min(around - EVIDENCE_CHARS_MAX // 3, len(clean) - EVIDENCE_CHARS_MAX))
    cut = clean[start : start + EVIDENCE_CHARS_MAX]
    return f"{'…' if start else ''}{cut}{'…' if start + EVIDENCE_CHARS_MAX < len(clean) else ''}"


def _mask_value(match: re.Match[str]) -> str:
    name, quote, bearer, value = match.groups()
    return match.group(0) if _NOT_SECRET.match(value) else f"{name}{quote}{bearer or ''}{masked(value)}"
