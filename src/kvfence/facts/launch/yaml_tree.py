"""YAML as values with their lines, made from the parser's events. Nothing is constructed; aliases share one value.

Bounded: depth, number of values, number of documents. Go templates (`{{ … }}`, as in Helm charts) are no YAML; where
they stand alone on a line they are left out, elsewhere a sign stands for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from kvfence.errors import TargetError
from kvfence.facts.launch.words import TEMPLATE

DEPTH_MAX = 100
VALUES_MAX = 200_000
CHARS_MAX = 8_388_608
_ACTION_LINE = re.compile(r"^[ \t]*(?:\{\{(?:[^{}]|\{[^{]|\}[^}])*\}\}[ \t]*)+(?:#.*)?$", re.MULTILINE)
_ACTION = re.compile(r"\{\{(?:[^{}\n]|\{[^{\n]|\}[^}\n])*\}\}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, as it is written; what type it would have is the asker's affair."""

    text: str
    line: int
    end_line: int
    literal: bool = False
    """A block in which lines stay lines: its first line is the one behind."""
    quoted: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A sequence."""

    values: list[Value] = field(default_factory=list)
    line: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """Keys that are text, in their order; the last of a name counts, and merged ones stand behind its own."""

    values: dict[str, Value] = field(default_factory=dict)
    keys: dict[str, Scalar] = field(default_factory=dict)
    line: int = 0

    def get(self, *path: str) -> Value | None:
        """What stands below these keys."""
        value: Value | None = self
        for key in path:
            value = value.values.get(key) if isinstance(value, Mapping) else None
        return value

    def text(self, *path: str) -> str | None:
        """The text that stands there, if it is text."""
        value = self.get(*path)
        return value.text if isinstance(value, Scalar) else None

    def mapping(self, *path: str) -> Mapping:
        """The mapping that stands there, or an empty one."""
        value = self.get(*path)
        return value if isinstance(value, Mapping) else Mapping()

    def items(self, *path: str) -> list[Value]:
        """The values of the sequence that stands there, or none."""
        value = self.get(*path)
        return value.values if isinstance(value, Items) else []


Value = Scalar | Items | Mapping


@dataclass(frozen=True, slots=True)
class Documents:
    """What one file holds."""

    roots: tuple[Value, ...]
    templates: int
    """How many templates were left out."""
    broken: str | None
    """Why it was not read to its end."""


@dataclass(slots=True)
class _Open:
    """A collection that is being filled."""

    value: Items | Mapping
    anchor: str | None
    key: Scalar | None = None
    merged: list[Value] = field(default_factory=list)
    expects_key: bool = True


def read_yaml(text: str, file: str, first_line: int = 1) -> Documents:
    """The documents of a text, whose lines are counted from that number on.

    Raises:
        TargetError: its first document is no YAML.
    """
    text, templates = without_templates(text)
    roots: list[Value] = []
    broken = None
    try:
        roots.extend(_documents(text, first_line))
    except _Stopped as stop:
        roots, broken = stop.roots, stop.why
    if broken and not roots:
        raise TargetError(f"{file}: not read as YAML: {broken}")
    return Documents(tuple(roots), templates, broken)


def without_templates(text: str) -> tuple[str, int]:
    """The text with a sign for each template inside a line, and nothing for those that fill one; and how many."""
    if "{{" not in text:
        return text, 0
    text, lines = _ACTION_LINE.subn(lambda match: "\n" * match[0].count("\n"), text)
    text, inside = _ACTION.subn(TEMPLATE, text)
    return text, lines + inside


class _Stopped(Exception):  # noqa: N818 — not an error by itself: what was read before stands
    def __init__(self, why: str, roots: list[Value]) -> None:
        super().__init__(why)
        self.why, self.roots = why, roots


def _documents(text: str, first_line: int) -> Iterator[Value]:
    building = _Builder(first_line)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            building.take(event)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _Stopped(f"{line}{error.problem or error.context or 'not understood'}", building.roots) from error
    except yaml.YAMLError as error:
        raise _Stopped(str(error).replace("\n", " "), building.roots) from error
    except RecursionError as error:
        raise _Stopped("it is nested too deeply", building.roots) from error
    yield from building.roots


class _Builder:
    """Events in, documents out."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.roots: list[Value] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, Value] = {}
        self.count = 0

    def take(self, event: yaml.Event) -> None:
        line, end = (mark.line + self.first_line if mark else 0 for mark in (event.start_mark, event.end_mark))
        match event:
            case yaml.DocumentStartEvent():
                self.anchors.clear()
            case yaml.ScalarEvent():
                literal = event.style == "|"
                scalar = Scalar(event.value, line, end, literal, event.style in {"'", '"'})
                self._put(scalar, event.anchor)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                if len(self.open) >= DEPTH_MAX:
                    raise _Stopped(
                        f"line {line - self.first_line + 1}: nested deeper than {DEPTH_MAX} levels", self.roots
                    )
                is_map = isinstance(event, yaml.MappingStartEvent)
                self.open.append(_Open(Mapping(line=line) if is_map else Items(line=line), event.anchor))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._close()
            case yaml.AliasEvent():
                # An anchor that is not there, or is still open: a value that holds itself is no setting.
                self._put(self.anchors.get(event.anchor or "", Scalar("", line, line)), None)
            case _:
                return

    def _close(self) -> None:
        done = self.open.pop()
        if isinstance(done.value, Mapping):
            for below in done.merged:
                _merge(done.value, below)
        self._put(done.value, done.anchor)

    def _put(self, value: Value, anchor: str | None) -> None:
        self.count += 1
        if self.count > VALUES_MAX:
            raise _Stopped(f"it holds more than {VALUES_MAX} values", self.roots)
        if anchor:
            self.anchors[anchor] = value
        if not self.open:
            self.roots.append(value)
            return
        into = self.open[-1]
        if isinstance(into.value, Items):
            into.value.values.append(value)
        elif into.expects_key:
            into.key, into.expects_key = (value if isinstance(value, Scalar) else None), False
        else:
            into.expects_key = True
            if into.key is None:
                return
            if into.key.text == "<<" and not into.key.quoted:
                into.merged.append(value)
                return
            into.value.values[into.key.text] = value
            into.value.keys[into.key.text] = into.key


def _merge(into: Mapping, below: Value) -> None:
    """`<<`: keys that it does not have itself, from one mapping or from several."""
    for source in below.values if isinstance(below, Items) else [below]:
        if isinstance(source, Mapping):
            for key, value in source.values.items():
                into.values.setdefault(key, value)
                into.keys.setdefault(key, source.keys[key])
