"""What a log of SGLang tells of its version. The engine does not print it; what it can and cannot print gives bounds.

Each bound was read from the engine's source: the oldest version that has it, or the newest that still has it, among
0.3.0, 0.3.6, 0.4.1, 0.4.6, 0.4.10, 0.5.2, 0.5.5, 0.5.9, 0.5.10, 0.5.12, 0.5.16 and 0.5.19 to 0.5.23. Between two of
these the wider bound is taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.facts.fact import Fact
from kvfence.facts.known_version import order
from kvfence.facts.logs.evidence import Heard

CHECKSUM = "disaggregation_enable_kv_checksum"


def version_min(heard: Heard) -> Fact | None:
    """This version or a later one."""
    return max(_at_least(heard), key=order, default=None)


def version_max(heard: Heard) -> Fact | None:
    """This version or an earlier one."""
    return min(_at_most(heard), key=order, default=None)


def _at_least(heard: Heard) -> Iterator[Fact]:
    since: tuple[tuple[str, Fact | None], ...] = (
        ("0.5.23", heard.last("warned.pool")),
        ("0.5.22", heard.last("set.disaggregation_decode_allocation_policy")),
        ("0.5.21", heard.last(f"set.{CHECKSUM}")),
        ("0.5.17", _styled(heard, "dict")),
        ("0.5.13", heard.last("set.kv_canary")),
        ("0.5.13", heard.last("allocated.dtype")),
    )
    yield from (Fact(version, fact.seen) for version, fact in since if fact)


def _at_most(heard: Heard) -> Iterator[Fact]:
    until: tuple[tuple[str, Fact | None], ...] = (
        ("0.5.21", _missing(heard, "disaggregation_decode_allocation_policy")),
        ("0.5.20", _missing(heard, CHECKSUM)),
        ("0.5.18", _styled(heard, "repr")),
        ("0.5.15", _missing(heard, "kv_canary")),
        ("0.4.5", heard.last("truncated.old")),
    )
    yield from (Fact(version, fact.seen) for version, fact in until if fact)


def _styled(heard: Heard, style: str) -> Fact | None:
    fact = heard.last("set.style")
    return fact if fact and fact.value == style else None


def _missing(heard: Heard, name: str) -> Fact | None:
    whole = heard.last("set.missing")
    return whole if whole and name in str(whole.value).split() else None
