"""A shell script as the commands that it would run: continuations, quotes, variables, several servers. Never run.

Conditions are not decided. A command under one is told as such; a variable set under one is `Variables`' affair.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile

from kvfence.facts.launch.shell_tokens import HereDocument, Literal, Operator, RawWord, tokens
from kvfence.facts.launch.variables import Variables
from kvfence.facts.launch.words import Command, Word

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=")
_OPENS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac"}
_AGAIN = frozenset({"then", "else", "elif", "do", "!", "time", "in"})
"""After these a command begins."""
_DECLARES = frozenset({"export", "declare", "local", "readonly", "typeset"})
_READS = frozenset({"source", "."})
_ENDS_LIST = frozenset({";", "\n", "&", ";;", ";&", ";;&"})


@dataclass(slots=True)
class Script:
    """What was read of a script: its commands, and what it takes from elsewhere."""

    commands: list[Command] = field(default_factory=list)
    here_documents: list[HereDocument] = field(default_factory=list)
    sources: list[Word] = field(default_factory=list)
    """Files that it reads variables from."""


def read_script(text: str, *, first_line: int = 1, env: Mapping[str, Word] | None = None) -> Script:
    """The commands of a script whose first line has that number, given these variables."""
    reading = _Reading(Variables.of(env or {}))
    for token in tokens(text, first_line):
        reading.take(token)
    reading.end_command()
    return reading.script


@dataclass(slots=True)
class _Reading:
    """Where in the script we are."""

    variables: Variables
    script: Script = field(default_factory=Script)
    words: list[RawWord] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    """The words that will close what is open."""
    after_condition: bool = False
    """Behind `&&` or `||`."""
    in_pattern: bool = False
    array: list[RawWord] | None = None
    was_name: bool = False
    """The last two tokens may be the head of a function."""

    def take(self, token: RawWord | Operator | HereDocument) -> None:
        match token:
            case HereDocument():
                self.script.here_documents.append(token)
            case RawWord():
                self._take_word(token)
            case Operator(text, _):
                self._take_operator(text)

    def end_command(self) -> None:
        words, self.words = self.words, []
        if words:
            self._command(words)

    @property
    def perhaps(self) -> bool:
        return self.after_condition or any(closing != "group" for closing in self.inside)

    def _take_word(self, word: RawWord) -> None:
        bare = word.bare
        if self.array is not None:
            self.array.append(word)
        elif self.in_pattern:
            if bare == "esac":
                self.in_pattern = False
                self._close("esac")
        elif bare == "in" and self.words and self.words[0].bare == "case":
            self.words.clear()
            self.in_pattern = True
        elif self.words or bare is None:
            self.words.append(word)
        else:
            self._begin(word, bare)

    def _begin(self, word: RawWord, bare: str) -> None:
        """The first word of a command, which may be a keyword."""
        if bare in _OPENS:
            self.inside.append(_OPENS[bare])
            if bare in {"for", "select", "case"}:
                self.words.append(word)
        elif bare in _OPENS.values():
            self._close(bare)
        elif bare in {"{", "}"}:
            self._brace(bare)
        elif bare not in _AGAIN:
            self.words.append(word)

    def _take_operator(self, text: str) -> None:
        if self.array is not None:
            if text == ")":
                self._end_array()
            return
        if self.in_pattern:
            self.in_pattern = text != ")"
            return
        if text == "(":
            self._open_parenthesis()
            return
        if text == ")" and self.was_name:
            self.was_name = False
            self.inside.append("}")
            return
        self.end_command()
        self.after_condition = text in {"&&", "||"} or (self.after_condition and text not in _ENDS_LIST)
        if text.startswith(";;") or text == ";&":
            self.in_pattern = True
        if text == ")":
            self._close("group")

    def _open_parenthesis(self) -> None:
        last = self.words[-1].parts if self.words else ()
        tail = last[-1] if last else None
        if isinstance(tail, Literal) and not tail.quoted and re.fullmatch(r"[A-Za-z_]\w*\+?=", tail.text):
            self.array = []
        elif len(self.words) == 1 and self.words[0].bare:
            self.words.clear()
            self.was_name = True
        else:
            self.end_command()
            self.inside.append("group")

    def _end_array(self) -> None:
        raw, self.array = self.array or [], None
        assigned = "".join(part.text for part in self.words.pop().parts if isinstance(part, Literal))
        values = tuple(word for item in raw for word in self.variables.expand(item))
        name, appended = assigned.rstrip("+="), assigned.endswith("+=")
        self.variables.assign(name, values, perhaps=self.perhaps, append=appended)
        self.words.clear()

    def _brace(self, bare: str) -> None:
        if bare == "}":
            self._close("}" if "}" in self.inside else "group")
        elif self.inside[-1:] != ["}"]:
            self.inside.append("group")

    def _close(self, closing: str) -> None:
        if closing in self.inside:
            while self.inside.pop() != closing:
                pass

    def _command(self, raw: list[RawWord]) -> None:
        assigned = list(takewhile(_is_assignment, raw))
        rest = raw[len(assigned) :]
        first = rest[0].bare if rest else None
        if first in _DECLARES:
            assigned.extend(word for word in rest[1:] if _is_assignment(word))
        if not rest or first in _DECLARES:
            for word in assigned:
                self._set(word)
        elif first in {"for", "select"}:
            self.variables.forget((rest[1].bare or "") if rest[1:] else "")
        elif first in {"read", "unset"}:
            for word in rest[1:]:
                self.variables.forget(word.bare or "")
        else:
            words = tuple(word for item in rest for word in self.variables.expand(item))
            env = {name: word for name, _appended, word in map(self._assigned, assigned)}
            if first in _READS:
                self.script.sources.extend(words[1:2])
            elif words:
                self.script.commands.append(Command(words=words, env=env, perhaps=self.perhaps))

    def _set(self, raw: RawWord) -> None:
        name, appended, word = self._assigned(raw)
        if appended:
            self.variables.append_text(name, word, perhaps=self.perhaps)
        else:
            self.variables.assign(name, (word,), perhaps=self.perhaps)

    def _assigned(self, raw: RawWord) -> tuple[str, bool, Word]:
        """The name, whether it is lengthened, and the value: one word, since nothing is split in an assignment."""
        head, *others = raw.parts
        match = _ASSIGNMENT.match(head.text) if isinstance(head, Literal) else None
        if match is None:
            raise ValueError(raw)
        parts = (Literal(match.string[match.end() :], quoted=True), *(replace(part, quoted=True) for part in others))
        (word,) = self.variables.expand(RawWord(parts, raw.line))[:1]
        return match[1], match[2] == "+", word


def _is_assignment(raw: RawWord) -> bool:
    head = raw.parts[0] if raw.parts else None
    return isinstance(head, Literal) and not head.quoted and bool(_ASSIGNMENT.match(head.text))
