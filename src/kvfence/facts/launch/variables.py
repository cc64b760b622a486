"""A script's variables as far as they are known, and the words that expansions give.

A variable that nobody set in the script comes from the environment, so it is a hole, or its default with a note. One
that is set again under a condition keeps its value, with the same note, if what it would get is not known; two known
values are a hole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kvfence.facts.launch.shell_tokens import Literal, Output, Part, RawWord, Variable, parts_of
from kvfence.facts.launch.words import NO_BREAK, TEMPLATE, Word

_DEPTH_MAX = 8
_CHARS_MAX = 65_536
"""Of one word. Variables that double each other grow beyond any use."""
_WORDS_MAX = 4_096
_ALL = ("@", "*")
_BLANK = re.compile(r"[ \t\r\n]+")
"""Not the blanks that stand in a hole, which are one word."""


@dataclass(slots=True)
class _Building:
    """A word while its parts are put together."""

    line: int
    text: str = ""
    holes: list[str] = field(default_factory=list)
    defaults: list[str] = field(default_factory=list)
    many: bool = False
    begun: bool = False

    def add(self, text: str, word: Word | None = None) -> None:
        self.text = (self.text + text)[:_CHARS_MAX]
        self.begun = True
        if word:
            self.holes.extend(word.holes)
            self.defaults.extend(word.defaults)
            self.many |= word.many

    def hole(self, raw: str, *, many: bool) -> None:
        raw = _BLANK.sub(NO_BREAK, raw)
        self.add(raw)
        self.holes.append(raw)
        self.many |= many

    def done(self) -> Word:
        if TEMPLATE in self.text:
            self.holes.append("{{…}}")
            self.many |= self.text == TEMPLATE
        return Word(self.text, self.line, tuple(self.holes), tuple(dict.fromkeys(self.defaults)), self.many)


@dataclass(slots=True)
class Variables:
    """What is known of each; an array is its words."""

    known: dict[str, tuple[Word, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, env: Mapping[str, Word]) -> Variables:
        """Those that a container is given."""
        return cls({name: (word,) for name, word in env.items()})

    def assign(self, name: str, words: tuple[Word, ...], *, perhaps: bool, append: bool = False) -> None:
        """Set it, for sure or under a condition."""
        before = self.known.get(name)
        if append and before is not None:
            words = (*before, *words)
        elif append:
            words = (_unset(name, words), *words)
        if not perhaps:
            self.known[name] = words[:_WORDS_MAX]
        elif before is None:
            self.known[name] = (_unset(name, words),)
        elif append or (_text(words) != _text(before) and _text(words).startswith(_text(before))):
            self.known[name] = (*before, _unset(name, words))[:_WORDS_MAX]
        elif _text(words) == _text(before):
            self.known[name] = before
        elif all(word.known for word in words):
            self.known[name] = (_unset(name, words),)
        else:
            self.known[name] = _noted(before, name)

    def append_text(self, name: str, word: Word, *, perhaps: bool) -> None:
        """Lengthen a variable that is no array."""
        before = self.known.get(name)
        if before is None or len(before) != 1 or perhaps:
            self.assign(name, (word,), perhaps=perhaps, append=True)
            return
        text = (before[0].text + word.text)[:_CHARS_MAX]
        defaults = (*before[0].defaults, *word.defaults)
        self.known[name] = (Word(text, word.line, (*before[0].holes, *word.holes), defaults, before[0].many),)

    def forget(self, name: str) -> None:
        """It is read from somewhere, or runs over a loop."""
        self.known[name] = (Word(f"${name}", 0, (f"${name}",)),)

    def expand(self, raw: RawWord) -> list[Word]:
        """The words that a word becomes."""
        return self._expand(raw.parts, raw.line, 0)

    def _expand(self, parts: tuple[Part, ...], line: int, depth: int) -> list[Word]:
        words: list[Word] = []
        building = _Building(line)
        for part in parts:
            match part:
                case Literal(text, _):
                    building.add(text)
                case Output(raw, quoted):
                    building.hole(raw, many=not quoted)
                case Variable():
                    building = self._substitute(part, building, words, depth)
        if building.begun:
            words.append(building.done())
        return words[:_WORDS_MAX]

    def _substitute(self, part: Variable, building: _Building, words: list[Word], depth: int) -> _Building:
        """Put a variable's value where it stands; unquoted, it may end this word and begin others."""
        values = self._value(part, building.line, depth)
        if values is None:
            building.hole(part.raw, many=not part.quoted or part.name in _ALL or "[@]" in part.rest)
            return building
        if part.quoted and "[@]" not in part.rest:
            for value in values:
                building.add(value.text, value)
            return building
        pieces = list(_pieces(values, split=not part.quoted))
        for index, (text, word) in enumerate(pieces):
            if index:
                words.append(building.done())
                building = _Building(building.line)
            if not building.begun:
                building.line = word.line or building.line
            building.add(text, word)
        return building

    def _value(self, part: Variable, line: int, depth: int) -> tuple[Word, ...] | None:
        """Its words; None where it is not known."""
        rest = part.rest
        known = self.known.get(part.name)
        if rest in {"", "[@]", "[*]"}:
            return known
        operator = rest[:2] if rest[0] == ":" else rest[:1]
        match operator.removeprefix(":"):
            case "-" | "=":
                is_set = known is not None and (operator[0] != ":" or any(word.text for word in known))
                return known if is_set else self._default(part, rest[len(operator) :], operator, line, depth)
            case "?":
                return known
            case "+" if known is not None:
                return self._expansion(rest[len(operator) :], line, depth) if _text(known) else ()
            case _:
                return None

    def _default(self, part: Variable, text: str, operator: str, line: int, depth: int) -> tuple[Word, ...] | None:
        values = self._expansion(text, line, depth)
        if values is None:
            return None
        noted = values if part.name in self.known else _noted(values, part.name)
        if "=" in operator:
            self.known[part.name] = noted
        return noted

    def _expansion(self, text: str, line: int, depth: int) -> tuple[Word, ...] | None:
        if depth >= _DEPTH_MAX:
            return None
        return tuple(self._expand(parts_of(text, line), line, depth + 1))


def _pieces(values: tuple[Word, ...], *, split: bool) -> Iterator[tuple[str, Word]]:
    for value in values:
        if not split:
            yield value.text, value
            continue
        for text in filter(None, _BLANK.split(value.text)):
            holes = tuple(hole for hole in value.holes if hole in text)
            yield text, Word(text, value.line, holes, value.defaults, value.many and bool(holes))


def _noted(words: tuple[Word, ...], name: str) -> tuple[Word, ...]:
    """The same words, which hold unless the environment sets that variable."""
    return tuple(Word(word.text, word.line, word.holes, (*word.defaults, name), word.many) for word in words)


def _text(words: tuple[Word, ...]) -> str:
    return " ".join(word.text for word in words)


def _unset(name: str, words: tuple[Word, ...]) -> Word:
    """A variable of which only the run knows what it is."""
    return Word(f"${name}", words[0].line if words else 0, (f"${name}",), many=True)
