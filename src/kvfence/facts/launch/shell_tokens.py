"""A shell script as tokens with their lines: words of quoted and unquoted parts, operators, ends of lines.

Nothing is expanded here. Comments and here-documents are left out; a here-document that would have started a server is
told. One pass, and what is opened and never closed reaches to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = " \t\r"
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]+|[@*#?$!-]")
_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|[;&|()]")
_REDIRECT = re.compile(r"\d*(?:<<<|<<-?|<>|<&|>>|>&|>\||<|>)-?|&>>?")
_PLAIN = re.compile(r"[^\s'\"\\$`;&|()<>]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """`$NAME` or `${NAME…}`; what follows the name inside the braces is `rest`."""

    name: str
    rest: str
    quoted: bool
    raw: str


@dataclass(frozen=True, slots=True)
class Output:
    """`$(…)`, backticks, `$((…))`: known only when it runs."""

    raw: str
    quoted: bool


Part = Literal | Variable | Output


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word before expansion."""

    parts: tuple[Part, ...]
    line: int

    @property
    def bare(self) -> str | None:
        """Its text, if nothing in it is quoted or expanded: only such a word can be a keyword."""
        if all(isinstance(part, Literal) and not part.quoted for part in self.parts):
            return "".join(part.text for part in self.parts if isinstance(part, Literal))
        return None


@dataclass(frozen=True, slots=True)
class Operator:
    """`;`, `&&`, a newline and the like."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class HereDocument:
    """A body that was skipped."""

    text: str
    line: int


Token = RawWord | Operator | HereDocument


class _Lexer:
    """The state of one pass. `at` never goes back."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text, self.at, self.line = text, 0, first_line
        self.awaited: list[tuple[str, bool]] = []

    def tokens(self) -> Iterator[Token]:
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in _BLANK:
                self.at += 1
            elif text.startswith(("\\\n", "\\\r\n"), self.at):
                self._advance(text.index("\n", self.at) + 1)
            elif char == "\n":
                yield Operator("\n", self.line)
                self._advance(self.at + 1)
                yield from self._here_documents()
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end == -1 else end
            elif match := _REDIRECT.match(text, self.at):
                self._redirect(match)
            elif match := _OPERATOR.match(text, self.at):
                yield Operator(match[0], self.line)
                self.at = match.end()
            else:
                yield self._word()

    def _advance(self, end: int) -> str:
        taken = self.text[self.at : end]
        self.line += taken.count("\n")
        self.at = end
        return taken

    def _redirect(self, match: re.Match[str]) -> None:
        self.at = match.end()
        kind = match[0].lstrip("0123456789")
        while self.text[self.at : self.at + 1] in tuple(_BLANK):
            self.at += 1
        if self.at >= len(self.text) or self.text[self.at] in "\n;&|()<>":
            return
        target = self._word()
        if kind in {"<<", "<<-"}:
            delimiter = "".join(part.text if isinstance(part, Literal) else part.raw for part in target.parts)
            self.awaited.append((delimiter, kind == "<<-"))

    def _here_documents(self) -> Iterator[HereDocument]:
        for delimiter, tabs in self.awaited:
            first, lines = self.line, []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self._advance(len(self.text) if end == -1 else end + 1).rstrip("\r\n")
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
                lines.append(line)
            yield HereDocument("\n".join(lines), first)
        self.awaited.clear()

    def _word(self) -> RawWord:
        text, line = self.text, self.line
        parts: list[Part] = []
        while self.at < len(text):
            char = text[self.at]
            if char in " \t\r\n;&|()<>":
                break
            parts.extend(self._parts(char))
        return RawWord(tuple(parts), line)

    def _parts(self, char: str) -> Iterator[Part]:
        text = self.text
        if char == "'":
            end = text.find("'", self.at + 1)
            yield Literal(self._advance(len(text) if end == -1 else end + 1)[1:].removesuffix("'"), quoted=True)
        elif char == '"':
            yield from self._double_quoted()
        elif char == "\\":
            escaped = self._advance(self.at + 2)[1:]
            yield Literal("" if escaped == "\n" else escaped, quoted=True)
        elif char in "$`":
            yield self._expansion(quoted=False)
        elif match := _PLAIN.match(text, self.at):
            self.at = match.end()
            yield Literal(match[0], quoted=False)
        else:
            self._advance(self.at + 1)

    def _double_quoted(self) -> Iterator[Part]:
        text = self.text
        self.at += 1
        yield Literal("", quoted=True)
        while self.at < len(text):
            char = text[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                pair = self._advance(self.at + 2)
                yield Literal(pair[1:] if pair[1:] in set('"\\$`') else "" if pair == "\\\n" else pair, quoted=True)
            elif char in "$`":
                yield self._expansion(quoted=True)
            elif match := _IN_DOUBLE.match(text, self.at):
                yield Literal(self._advance(match.end()), quoted=True)

    def _expansion(self, *, quoted: bool) -> Part:
        text, start = self.text, self.at
        if text[start] == "`":
            end = text.find("`", start + 1)
            return Output(self._advance(len(text) if end == -1 else end + 1), quoted)
        following = text[start + 1 : start + 2]
        if following == "(":
            return Output(self._advance(self._closing(start + 1, "(", ")")), quoted)
        if following == "{":
            raw = self._advance(self._closing(start + 1, "{", "}"))
            name = _NAME.match(raw, 2)
            if name is None:
                return Output(raw, quoted)
            return Variable(name[0], raw[name.end() :].removesuffix("}"), quoted, raw)
        if name := _NAME.match(text, start + 1):
            raw = self._advance(name.end())
            return Variable(name[0], "", quoted, raw)
        self.at += 1
        return Literal("$", quoted)

    def _closing(self, start: int, opening: str, closing: str) -> int:
        """Behind the bracket that closes the one at `start`; quotes inside are not looked into."""
        depth = 0
        for at in range(start, len(self.text)):
            char = self.text[at]
            depth += (char == opening) - (char == closing)
            if depth == 0:
                return at + 1
        return len(self.text)


def tokens(text: str, first_line: int = 1) -> Iterator[Token]:
    """The tokens of a script that begins at that line."""
    return _Lexer(text, first_line).tokens()


def parts_of(text: str, line: int) -> tuple[Part, ...]:
    """The parts of a text that stands in double quotes, as the default of a variable does."""
    lexer = _Lexer('"' + text.replace('"', "") + '"', line)
    return lexer._word().parts  # noqa: SLF001 — the same file
