"""A server's arguments as facts: what is asked for, and what holds because nothing is asked.

A default is claimed only where nothing can still be added: no argument that only the run knows, no settings file that
was not read. Defaults: SGLang 0.5.10 to 0.5.23 and vLLM 0.6 to 0.32 agree on those that are claimed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from kvfence.facts.fact import Engine, Fact
from kvfence.facts.flags import Kind, Setting, canonical, settings_of, switches_of
from kvfence.facts.launch.places import Places
from kvfence.facts.launch.words import NO_BREAK, TEMPLATE, Word
from kvfence.findings.finding import Evidence
from kvfence.findings.redact import as_evidence

_NUMBER = re.compile(r"\d{1,18}")
_FRACTION = re.compile(r"\d{1,6}(?:\.\d{0,18})?|\.\d{1,18}")
_HUMAN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([kKmMgG])")
"""vLLM's way to write a length: a small letter is a power of ten, a capital one of two."""
_HUMAN_FLAG = "max_model_len"
_HUMAN_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_TOLD_MAX = 5


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag with its value as it will be, and where it stands."""

    name: str
    value: Word | None
    at: Word

    @property
    def text(self) -> str:
        """As it stands in a command."""
        dashed = f"--{self.name.replace('_', '-')}"
        return dashed if self.value is None else f"{dashed} {self.value.text}"


@dataclass(slots=True)
class Arguments:
    """The flags of one server, the last of each name."""

    engine: Engine
    places: Places
    flags: dict[str, Flag] = field(default_factory=dict)
    positional: list[Word] = field(default_factory=list)
    open_ends: list[Word] = field(default_factory=list)
    """What may still add arguments."""

    @classmethod
    def of(cls, engine: Engine, words: Sequence[Word], places: Places) -> Arguments:
        """Sort a server's words into flags and values."""
        arguments = cls(engine, places)
        waiting: Flag | None = None
        for word in words:
            waiting = arguments._take(word, waiting)
        return arguments

    def _take(self, word: Word, waiting: Flag | None) -> Flag | None:
        short = re.fullmatch(r"-(?:tp|pp|dp|q)(?:=.*)?", word.text) if self.engine is Engine.VLLM else None
        if word.text.startswith("--") or short:
            name, equals, value = word.text.partition("=")
            name = canonical(self.engine, name)
            given = Word(value, word.line, word.holes, word.defaults) if equals else None
            flag = Flag(name, given, word)
            self.flags[name] = flag
            return None if equals or name in switches_of(self.engine) else flag
        if word.many and (waiting is None or word.text.startswith(("$@", "$*")) or "[@]" in word.text):
            self.open_ends.append(word)
        elif waiting is not None:
            self.flags[waiting.name] = Flag(waiting.name, word, waiting.at)
        elif word.holes:
            self.open_ends.append(word)
        else:
            self.positional.append(word)
        return None

    def add_below(self, flags: Mapping[str, Flag]) -> None:
        """Take in a settings file's; what the command itself says stands above them."""
        self.flags = {**flags, **self.flags}

    def has(self, name: str) -> bool:
        """Whether a switch is there."""
        return name in self.flags

    def text(self, name: str) -> str | None:
        """A flag's value, if it is known."""
        flag = self.flags.get(name)
        return flag.value.text if flag and flag.value and flag.value.known else None

    def fact(self, name: str) -> Fact | None:
        """What one of the engine's settings asks for, as its kind of value; None where that is not known."""
        flag = self.flags.get(name)
        setting = settings_of(self.engine).get(name)
        value = None if flag is None or setting is None else _value(flag, setting)
        return None if flag is None or value is None else Fact(value, self.evidence(flag.at.line, flag.text))

    def facts(self) -> dict[str, Fact]:
        """All facts that flags state by themselves, by the names that are reported."""
        found: dict[str, Fact] = {}
        for name in self.flags:
            fact = self.fact(name)
            if fact is not None:
                found[settings_of(self.engine)[name].fact] = fact
        return found

    def evidence(self, line: int, text: str) -> Evidence:
        """A place in these files."""
        return self.places.evidence(line, text)

    def gaps(self, where: str) -> Iterator[str]:
        """What of it only the run knows, and what cannot be."""
        asked = [flag for flag in self.flags.values() if flag.name in settings_of(self.engine) and flag.value]
        unknown = [flag for flag in asked if flag.value and flag.value.holes]
        if unknown:
            listed = _listed(flag.text for flag in unknown)
            yield f"{where}: {listed}: known only when it runs; give its log, which has it"
        if self.open_ends:
            listed = _listed(word.text for word in self.open_ends)
            yield f"{where}: {listed} may add arguments that are not in this file"
        odd = [flag for flag in asked if flag.value and flag.value.known and self.fact(flag.name) is None]
        if odd:
            yield f"{where}: {_listed(flag.text for flag in odd)}: no value that this flag can have, so it was left out"
        values = [*(flag.value for flag in asked if flag.value), *self.positional]
        defaults = {name for value in values for name in value.defaults}
        if defaults:
            listed = _listed(sorted(defaults))
            yield f"{where}: defaults were taken for {listed}; what is set when it runs stands above them"


def _listed(texts: Iterable[str]) -> str:
    """The first few, as they are written."""
    first = [text.replace(NO_BREAK, " ").replace(TEMPLATE, "{{…}}") for text in islice(texts, _TOLD_MAX)]
    return ", ".join(as_evidence(text) for text in first)


def _value(flag: Flag, setting: Setting) -> str | int | bool | None:
    """A flag's value as its kind has it; None where it is not known, or cannot be."""
    if setting.kind is Kind.SWITCH:
        return True if flag.value is None else None
    if setting.kind is Kind.SECRET:
        return True
    if flag.value is None or not flag.value.known:
        return None
    text = flag.value.text.strip()
    match setting.kind:
        case Kind.NUMBER:
            return _number(text, human=flag.name == _HUMAN_FLAG)
        case Kind.FRACTION:
            return text if _FRACTION.fullmatch(text) else None
        case _:
            return text or None


def _number(text: str, *, human: bool) -> int | None:
    if _NUMBER.fullmatch(text):
        return int(text)
    match = _HUMAN.fullmatch(text) if human else None
    if match is None:
        return None
    whole = float(match[1]) * _HUMAN_UNITS[match[2]]
    return int(whole) if whole.is_integer() else None
