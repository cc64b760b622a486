"""Lines that say once more what lines before them said, counted as bytes: one refusal may fill gigabytes.

A *form* is a line with a few open places: the digits of a clock around the message, the length that was asked for, the
request's identifier, and numbers behind the message (`idle_numbers`). All else in it is fixed, byte by byte. So a line
of that form says what the line said that the form was made of, but for that length and that identifier:

- What collected the line, and whose it is, is read from what stands around the message: fixed, but for digits of a
  clock, and a form is made only where no clock is part of the name.
- Every other message has a word of its own, with a space or a sign in it. It would have to stand in the fixed part,
  and then the first line would have been that message; an open place holds digits, or letters, digits, `_`, `.`, `-`.
- What a message says of a server (its limit, its rank) is fixed: another limit is another form.

A form is made only of a line of which nothing is kept any more but how often it comes, the longest length and the
last place, and it is dropped when its server says anything else. What is in doubt has no form and is read in full.
`test_recurring` holds both ways of reading against one another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kvfence.facts.fact import Engine
from kvfence.facts.idle_numbers import open_numbers, says_the_same
from kvfence.facts.logs.statement import Statement
from kvfence.facts.wrapping import Source

_LINE_BYTES_MAX = 2048
"""Of a line that a form is made of; a refusal has 200."""
_FORMS_MAX = 32
"""At a time: ranks, pods and limits that take turns."""
_OFTEN = 16
"""How often a line comes before a form is made of it, which takes as long as reading ten lines."""
_COUNTED_MAX = 64
_CLOCK = re.compile(rb"(?<!\d)(?:(?:\d{4}-)?\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?!\d)")
_DIGIT = re.compile(rb"\d")
_OPEN = {"asked": rb"([0-9]{1,15})", "request": rb"[A-Za-z0-9_.-]{1,80}"}

StreamKey = tuple[Source | None, Engine, str | None]
"""Whose lines they are: who printed them, of which engine, and the name that the lines give the node themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What lines of one kind have in common, and what they say."""

    statement: Statement
    key: StreamKey
    before: int
    """Bytes before the engine's own line."""
    behind: int
    """Bytes behind it, without the line's end."""
    one: re.Pattern[bytes]
    many: re.Pattern[bytes]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Lines of one form, in one."""

    key: StreamKey
    statement: Statement
    """What the last of them says, with the longest length that any of them says."""
    times: int
    start: int
    """Where the last of them begins in its block."""
    text: str
    """The engine's own line in the last of them."""


@dataclass(slots=True)
class Recurring:
    """The forms of one log, made as its lines are read."""

    stems: Sequence[bytes] = ()
    """Of every message that a reader knows; without them no number is left open."""
    forms: list[Form] = field(default_factory=list)
    _counted: Counter[bytes] = field(default_factory=Counter)
    """How often a line came of which no form is made yet; by the form's pattern."""
    _latest: int = 0
    _taken: dict[Form, list[tuple[int, int]]] = field(default_factory=dict)

    def take(self, body: bytes, start: int) -> int:
        """Set aside the line that begins there and those straight behind it, if they have a form; where they end."""
        count = len(self.forms)
        # The same form again, or the one that came after it: ranks print in turn.
        for index in range(self._latest, self._latest + count):
            form = self.forms[index % count]
            if match := form.many.match(body, start):
                self._latest = index % count
                self._taken.setdefault(form, []).append((start, match.end()))
                return match.end()
        return start

    def drain(self, body: bytes) -> list[Repeats]:
        """What was set aside of this block, in the order in which each form came last."""
        taken = [_repeats(form, body, places) for form, places in self._taken.items()]
        self._taken.clear()
        return sorted(taken, key=lambda one: one.start)

    def learn(self, line: bytes, text: str, statement: Statement, key: StreamKey) -> None:
        """Count a line of which nothing is kept but what `Repeats` has; when it came often, make a form of it.

        `text` is the engine's own line in it, and `statement` what that says.
        """
        match = statement.match
        if match is None or match.string != text or not _may_recur(line, text, key[0]):
            return
        pattern = _pattern(line, text, match, open_numbers if self.stems else re.escape)
        self._counted[pattern] += 1
        if self._counted[pattern] == _OFTEN:
            del self._counted[pattern]
            if self.stems and not _is_whole(text, match, self.stems):
                pattern = _pattern(line, text, match, re.escape)
            self.forms = [*self.forms, *_form(pattern, line, text, statement, key)][-_FORMS_MAX:]
        elif len(self._counted) > _COUNTED_MAX:
            self._counted.clear()

    def forget(self, key: StreamKey) -> None:
        """Make nothing more of that server's lines before they have come often again."""
        self.forms = [form for form in self.forms if form.key != key]
        self._latest = 0


def _may_recur(line: bytes, text: str, source: Source | None) -> bool:
    """Whether all that the argument above needs is so."""
    named_by_clock = source is not None and _CLOCK.search(source.long.encode())
    whole = line.isascii() and b"\r" not in line and line.count(text.encode()) == 1
    return whole and not named_by_clock and "--model" not in text and len(line) <= _LINE_BYTES_MAX


def _is_whole(text: str, match: re.Match[str], stems: Sequence[bytes]) -> bool:
    """Whether numbers behind a message may be left open.

    One that looks for something and has not found it might find it behind another number.
    """
    return None not in match.groupdict().values() and says_the_same(text, match.end(), stems)


def _pattern(line: bytes, text: str, match: re.Match[str], rest: Callable[[bytes], bytes]) -> bytes:
    """Of all lines like that one; `rest` makes the pattern of what stands behind the message."""
    before = line.index(text.encode())
    begun, said, end = before + match.start(), before + match.end(), before + len(text)
    named = (name for name in _OPEN if match.groupdict().get(name) is not None)
    parts, at = [_but_clocks(line[:begun])], begun
    for start, behind, name in sorted((*match.span(name), name) for name in named):
        # Of `room 7` the last word is the identifier.
        first = start + match.string[start:behind].rfind(" ") + 1
        parts += [re.escape(line[at : before + first]), _OPEN[name]]
        at = before + behind
    return b"".join((*parts, re.escape(line[at:said]), rest(line[said:end]), _but_clocks(line[end:]), rb"\r?\n"))


def _but_clocks(fixed: bytes) -> bytes:
    """A pattern for these bytes, with any digits where a clock has some."""
    parts, at = [], 0
    for clock in _CLOCK.finditer(fixed):
        parts += [re.escape(fixed[at : clock.start()]), _DIGIT.sub(rb"\\d", re.escape(clock[0]))]
        at = clock.end()
    return b"".join((*parts, re.escape(fixed[at:])))


def _form(pattern: bytes, line: bytes, text: str, statement: Statement, key: StreamKey) -> Iterator[Form]:
    """The form of that pattern; none where an identifier is wider than what is open, so that the line has it not."""
    one = re.compile(pattern)
    if one.fullmatch(line + b"\n"):
        before = line.index(text.encode())
        many = re.compile(b"(?:" + pattern + b")++")
        yield Form(statement, key, before, len(line) - before - len(text), one, many)


def _repeats(form: Form, body: bytes, places: list[tuple[int, int]]) -> Repeats:
    lines = b"".join(body[start:end] for start, end in places)
    # With one group, `findall` gives what it holds; with none, all of the line.
    found = form.one.findall(lines)
    asked = max(map(int, found)) if form.one.groups else None
    (happened,) = form.statement.happened
    start, end = places[-1]
    start = body.rfind(b"\n", start, end - 1) + 1 or start
    line = body[start:end].rstrip(b"\r\n").decode()
    return Repeats(
        key=form.key,
        statement=replace(form.statement, happened=(replace(happened, asked_tokens=asked, request=None),)),
        times=len(found),
        start=start,
        text=line[form.before : len(line) - form.behind],
    )
