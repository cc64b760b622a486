"""What stands in one text: the first look, the second look, and one finding for each stretch of bytes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kvfence.findings.redact import masked_secret
from kvfence.scan.credentials import kingfisher
from kvfence.scan.credentials.connections import CONNECTIONS
from kvfence.scan.credentials.generic import GENERIC
from kvfence.scan.credentials.kingfisher import Hit
from kvfence.scan.credentials.own_rules import OWN
from kvfence.scan.credentials.personal import PERSONAL
from kvfence.scan.credentials.prefilter import Prefilter, compiled
from kvfence.scan.credentials.private_keys import PRIVATE_KEYS
from kvfence.scan.credentials.rule import Found, Rule
from kvfence.scan.credentials.signed_tokens import TOKENS
from kvfence.scan.credentials.stretches import NARROW_BYTES, WIDE_BYTES, Stretch, stretches

TEXT_MIN = 12
"""Bytes; nothing shorter is a secret with what names it."""
_SEPARATORS = bytes.maketrans(b"&,)]}<>|\\", b" " * 9)
_SPACES = tuple((one, b" " * len(one)) for one in (rb"\n", rb"\r", rb"\t", b". ", b".\n"))
_URL_SPACES = tuple((one, b" " * len(one)) for one in (b"%0A", b"%0a", b"%20", b"%22", b"%27"))
_NO_BACKSLASH = bytes.maketrans(b"\\", b" ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """What is looked for besides secrets that have a form of their own."""

    personal: bool = False
    generic: bool = False

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Those of our own, those that decide first before others."""
        more = PERSONAL * self.personal + GENERIC * self.generic
        return PRIVATE_KEYS + TOKENS + CONNECTIONS + OWN + more


def database(kinds: Kinds) -> bytes:
    """What a `Finder` needs; compiled once, about a second."""
    return compiled([*((rule.begins or rule.pattern).decode() for rule in kinds.rules), *kingfisher.patterns()])


class Finder:
    """Looks at one text at a time."""

    def __init__(self, kinds: Kinds, prefilter: bytes) -> None:
        self._rules = [(rule, re.compile(rule.pattern)) for rule in kinds.rules]
        self._prefilter = Prefilter(prefilter)

    @cached_property
    def _kingfisher(self) -> kingfisher.Kingfisher:
        return kingfisher.Kingfisher()

    def find(self, text: memoryview) -> list[Found]:
        """All in it, in its order, none over another."""
        if len(text) < TEXT_MIN:
            return []
        narrow = (one for wide in stretches(0, len(text), len(text), WIDE_BYTES) for one in self._in_wide(text, wide))
        return _apart([one for stretch in narrow for one in self._in_narrow(text, stretch)])

    def _in_wide(self, text: memoryview, wide: Stretch) -> Iterator[Stretch]:
        if self._prefilter.hits(text[wide.low : wide.high]):
            yield from stretches(wide.start, wide.end, len(text), NARROW_BYTES)

    def _in_narrow(self, text: memoryview, stretch: Stretch) -> Iterator[tuple[int, Found]]:
        view = text[stretch.low : stretch.high]
        hits = self._prefilter.hits(view)
        if not hits:
            return
        raw = bytes(view)
        plain = unescaped(raw)
        for number in hits:
            if number < len(self._rules):
                rule, pattern = self._rules[number]
                if rule.reach_bytes:
                    yield from _by_long_rule(rule, pattern, text, stretch)
                    continue
                for rank, form in ((0, raw), (1, plain)):
                    yield from ((rank, one) for one in _by_rule(rule, pattern, form, stretch))
        if hits[-1] >= len(self._rules):
            for rank, form in ((2, raw), (3, plain.translate(_SEPARATORS))):
                for hit in self._kingfisher.hits(form):
                    at = stretch.low + hit.start
                    if stretch.start <= at < stretch.end:
                        yield rank, _found(at, hit)


def unescaped(raw: bytes) -> bytes:
    """Of the same length: escapes of JSON and of URLs, and full stops at an end, as spaces. Quotes stay quotes."""
    for one, spaces in _SPACES + _URL_SPACES * (b"%" in raw):
        raw = raw.replace(one, spaces)
    return (raw[:-1] + b" " if raw.endswith(b".") else raw).translate(_NO_BACKSLASH)


def _by_rule(rule: Rule, pattern: re.Pattern[bytes], form: bytes, stretch: Stretch) -> Iterator[Found]:
    for match in pattern.finditer(form):
        at = stretch.low + match.start("secret")
        if stretch.start <= at < stretch.end and rule.is_one(match):
            yield _of_rule(rule, match, at)


def _by_long_rule(
    rule: Rule, pattern: re.Pattern[bytes], text: memoryview, stretch: Stretch
) -> Iterator[tuple[int, Found]]:
    """Its matches begin where its secrets do."""
    for match in pattern.finditer(bytes(text[stretch.low : stretch.end + rule.reach_bytes])):
        at = stretch.low + match.start("secret")
        if at >= stretch.end:
            return
        if stretch.start <= at and rule.is_one(match):
            yield 0, _of_rule(rule, match, at)


def _of_rule(rule: Rule, match: re.Match[bytes], at: int) -> Found:
    value = match["secret"]
    shown = rule.said or masked_secret(value.decode(errors="replace"), public=rule.public)
    return Found(at=at, length=len(value), kind=rule.kind, named=rule.named(match), redacted=shown)


def _found(at: int, hit: Hit) -> Found:
    shown = masked_secret(hit.value.decode(errors="replace"), public=hit.public)
    return Found(at=at, length=len(hit.value), kind=hit.kind, named=hit.value, redacted=shown)


def _apart(found: Sequence[tuple[int, Found]]) -> list[Found]:
    """One of those that overlap: ours, then Kingfisher's; in the text as it is, then in what it was before escaping."""
    kept: list[Found] = []
    for _, one in sorted(found, key=lambda each: (each[0], each[1].at, -each[1].length, each[1].kind)):
        place = bisect_left(kept, one.at, key=lambda other: other.at)
        is_behind = place == 0 or kept[place - 1].at + kept[place - 1].length <= one.at
        if is_behind and (place == len(kept) or one.at + one.length <= kept[place].at):
            kept.insert(place, one)
    return kept
