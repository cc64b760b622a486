"""A finding and its evidence. One without a place where it was seen cannot be made. No format lives here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is if it is true."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


class Confidence(StrEnum):
    """How sure the evidence makes us; apart from severity on purpose."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where something was read."""

    file: str
    """A file as it was named, or the URL that was asked."""
    line: int | None
    """From 1; none for an endpoint's answer."""
    text: str
    """What stands there, or the field of an answer with its value: cut, and with secrets masked."""

    @property
    def place(self) -> str:
        """`FILE:LINE`, or the URL."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong, where it was seen, and the one change that ends it."""

    rule: str
    severity: Severity
    confidence: Confidence
    node: str
    message: str
    evidence: tuple[Evidence, ...]
    """The first is the primary one."""
    fix: str

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError(f"a finding of {self.rule} needs evidence")
