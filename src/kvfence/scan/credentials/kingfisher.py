"""Kingfisher's rules (Apache-2.0): what they find in a stretch of text. Its validators are never called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kvfence.scan.credentials.checksums import can_be_real
from kvfence.scan.credentials.placeholders import is_placeholder

_PUBLIC = re.compile(r"(?:\(\?i\))?(?:\\b)?\(?((?:[A-Za-z0-9_]|\\?-)+)(?=[\[(\\])")
"""The letters that a rule's value begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What one of its rules has found."""

    start: int
    kind: str
    public: int
    value: bytes = field(repr=False)


_BY_ITS_PAIR = {
    "betterleaks.alibaba-secret-key": "betterleaks.alibaba-access-key-id",
    "betterleaks.alibaba-sts-access-key-secret": "betterleaks.alibaba-sts-access-key-id",
}
"""Rules that match much, and report only what has the other, which matches little, beside it."""

_OURS = frozenset(
    f"betterleaks.{name}"
    for name in (
        "generic-credential-uri",
        "jwt",
        "langfuse-secret-key.1",
        "mongodb-connection-string",
        "planetscale-api-token",
        "private-key",
    )
)
"""What rules of our own find all of, which come first."""


def patterns() -> list[str]:
    """Whenever a rule reports something, one of these has matched near it."""
    rules = _rules()
    details = [rules.detail(one["id"]) for one in rules.metadata()]
    by_id = {one["id"]: one["detection_regex"] for one in details}
    return [
        by_id[_BY_ITS_PAIR.get(one["id"], one["id"])] for one in details if one["visible"] and one["id"] not in _OURS
    ]


@cache
def _rules() -> Any:
    from kingfisher_sdk import Rules  # noqa: PLC0415 — heavy; only a scan needs it

    return Rules()


class Kingfisher:
    """All rules, compiled; read from the package's own cache, which is written before any text is there."""

    def __init__(self) -> None:
        from kingfisher_sdk import DetectionPolicy, Scanner  # noqa: PLC0415 — heavy; only a scan needs it

        policy = DetectionPolicy(inline_ignores=False, markup_context=False, base64_max_depth=0)
        self._rules = _rules()
        self._scanner = Scanner(self._rules, base64=False, policy=policy)
        self._public: dict[str, bytes] = {}

    def hits(self, text: bytes) -> Iterator[Hit]:
        """In the order of its own; what a checksum, a header or its wording rules out is not among them."""
        for finding in self._scanner.scan(text):
            if not finding.visible:
                continue
            value = finding.secret.encode()
            start = finding.location["start_offset"]
            if text[start : start + len(value)] != value:
                start = text.find(value)
            public = self._public_bytes(finding.rule_id, value)
            if start >= 0 and can_be_real(value) and not is_placeholder(value) and _stands_alone(text, start, public):
                yield Hit(start=start, kind=_kind(finding.rule_id), public=public, value=value)

    def _public_bytes(self, rule_id: str, value: bytes) -> int:
        if rule_id not in self._public:
            begins = _PUBLIC.match(self._rules.detail(rule_id)["detection_regex"])
            self._public[rule_id] = begins[1].replace("\\", "").encode() if begins else b""
        public = self._public[rule_id]
        return len(public) if value.startswith(public) else 0


def _stands_alone(text: bytes, start: int, public: int) -> bool:
    """Not where its beginning is but letters inside a longer run of them: images in base 64 have `BSA` and `SK` too."""
    begins = text[start : start + public]
    return not begins.isalnum() or not text[max(0, start - 1) : start].isalnum()


def _kind(rule_id: str) -> str:
    """`betterleaks.github-pat` as `github-pat`."""
    return re.sub(r"\.\d+$", "", rule_id.rsplit("/", 1)[-1].removeprefix("betterleaks."))
