"""A server's answers as facts: JSON fields and metrics, each with the address and the field where it stood.

Nothing here trusts an answer. A field of another type than expected says nothing; a number is taken as it is or not
at all; text is cut and masked when it is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kvfence.facts.endpoints.base import Base
from kvfence.facts.endpoints.fetch import Answers, Page
from kvfence.facts.fact import Fact
from kvfence.findings.finding import Evidence
from kvfence.findings.redact import as_evidence

_OK = 200
_COUNT_BELOW = 10**15
"""No pool holds a quadrillion tokens; a longer number is no count."""
_TEXT_CHARS_MAX = 1024
_METRIC = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?[ \t]+(?P<value>\S+)(?:[ \t]+-?\d+)?[ \t\r]*")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of an answer, read field by field."""

    url: str
    fields: Mapping[str, Any]
    at: str = ""
    """What stands before the names of its fields: `internal_states[0].`."""

    def has(self, *names: str) -> bool:
        """Whether all of these fields are there."""
        return all(name in self.fields for name in names)

    def count(self, name: str) -> Fact | None:
        """A whole number from 0 on."""
        value = self.fields.get(name)
        if type(value) is not int or not 0 <= value < _COUNT_BELOW:
            return None
        return Fact(value, self.seen(name, value))

    def positive(self, name: str) -> Fact | None:
        """A whole number from 1 on."""
        fact = self.count(name)
        return fact if fact and fact.value else None

    def text(self, name: str) -> Fact | None:
        """Text that is not empty; of a decimal number its digits."""
        value = self.fields.get(name)
        if type(value) is float:
            value = f"{value:g}"
        if not isinstance(value, str) or not value.strip():
            return None
        return Fact(value[:_TEXT_CHARS_MAX], self.seen(name, value))

    def switch(self, name: str) -> Fact | None:
        """True or false."""
        value = self.fields.get(name)
        return Fact(value, self.seen(name, value)) if isinstance(value, bool) else None

    def inner(self, name: str) -> Fields | None:
        """The object in that field."""
        value = self.fields.get(name)
        return Fields(self.url, value, f"{self.at}{name}.") if isinstance(value, dict) else None

    def each(self, name: str) -> tuple[Fields, ...]:
        """The objects in that list."""
        value = self.fields.get(name)
        items = value if isinstance(value, list) else []
        return tuple(
            Fields(self.url, item, f"{self.at}{name}[{index}].")
            for index, item in enumerate(items)
            if isinstance(item, dict)
        )

    def seen(self, name: str, value: object) -> Evidence:
        """The place of a field, with what stands there."""
        return _evidence(self.url, f"{self.at}{name} = {value}")


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of metrics in Prometheus' text form."""

    url: str
    name: str
    labels: Mapping[str, str]
    value: str

    def count(self) -> Fact | None:
        """Its value, where that is a whole number."""
        try:
            value = float(self.value)
        except ValueError:
            return None
        if not 0 <= value < _COUNT_BELOW or not value.is_integer():
            return None
        return Fact(int(value), _evidence(self.url, f"{self.name} = {int(value)}"))

    def label(self, name: str) -> Fact | None:
        """A label as text."""
        value = self.labels.get(name)
        return Fact(value[:_TEXT_CHARS_MAX], self._seen(name, value)) if value else None

    def label_count(self, name: str) -> Fact | None:
        """A label as a whole number."""
        digits = self.labels.get(name, "")
        return Fact(int(digits), self._seen(name, digits)) if re.fullmatch(r"[0-9]{1,15}", digits) else None

    def _seen(self, name: str, value: str) -> Evidence:
        return _evidence(self.url, f'{self.name}{{{name}="{value}"}}')


@dataclass(frozen=True, slots=True)
class Pages:
    """All that one server answered."""

    base: Base
    answers: Answers

    def answered(self, path: str) -> Page | None:
        """The answer to that page, if it is one to read."""
        page = self.answers.get(path)
        return page if isinstance(page, Page) and page.status == _OK else None

    def json(self, path: str) -> Fields | None:
        """The JSON object that stands there."""
        page, value = self._parsed(path)
        return Fields(page.url, value) if page and isinstance(value, dict) else None

    def json_list(self, path: str) -> tuple[Fields, ...]:
        """The JSON objects of the list that stands there."""
        page, value = self._parsed(path)
        return Fields(page.url, {"": value}).each("") if page else ()

    def models(self) -> tuple[Fields, ...]:
        """What `/v1/models` lists."""
        listed = self.json("/v1/models")
        return listed.each("data") if listed else ()

    def advertised(self) -> Fact | None:
        """The length that `/v1/models` promises, where all that it lists promise the same."""
        told = [fact for card in self.models() if (fact := card.positive("max_model_len"))]
        return told[0] if len({fact.value for fact in told}) == 1 else None

    def owned_by(self, *owners: str) -> Fields | None:
        """The first model that is said to be served by one of these."""
        return next((card for card in self.models() if card.fields.get("owned_by") in owners), None)

    def metrics(self, prefix: str) -> tuple[Metric, ...]:
        """The metrics whose names begin so."""
        page = self.answered("/metrics")
        if page is None:
            return ()
        # The form asks for a newline behind every line: a last one without it may be half a line.
        lines = page.body[: page.body.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")
        found = (_METRIC.fullmatch(line) for line in lines if line.startswith(prefix))
        return tuple(
            Metric(page.url, match["name"], dict(_LABEL.findall(match["labels"] or "")), match["value"])
            for match in found
            if match
        )

    def _parsed(self, path: str) -> tuple[Page | None, Any]:
        page = self.answered(path)
        if page is None:
            return None, None
        try:
            return page, json.loads(page.body)
        except (ValueError, RecursionError):
            return None, None


def _evidence(url: str, text: str) -> Evidence:
    return Evidence(file=url, line=None, text=as_evidence(text[:_TEXT_CHARS_MAX]))


def derived(fact: Fact, value: int, how: str) -> Fact:
    """A number worked out from another; its place says how."""
    return Fact(value, Evidence(file=fact.seen.file, line=None, text=as_evidence(f"{fact.seen.text} ({how})")))


def least(*facts: Fact | None) -> Fact | None:
    """The smallest of these numbers: one small rank is enough to refuse a prompt."""
    return min((fact for fact in facts if fact), key=lambda fact: int(fact.value), default=None)


def known(facts: Mapping[str, Fact | None]) -> dict[str, Fact]:
    """Those that were read."""
    return {name: fact for name, fact in facts.items() if fact is not None}
