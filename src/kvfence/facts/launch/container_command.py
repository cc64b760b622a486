"""A container's command as it will be: command and arguments, in lists or as text, with what its environment gives.

A script that is mounted from a ConfigMap, and that the command runs, is what the container starts.

Kubernetes puts `$(NAME)` in from the container's own environment, compose puts `${NAME:-…}` in from whoever starts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kvfence.facts.launch.beside import read_beside
from kvfence.facts.launch.config_maps import ConfigMaps
from kvfence.facts.launch.containers import Around
from kvfence.facts.launch.places import Places
from kvfence.facts.launch.servers import MENTIONS, is_vllm_image
from kvfence.facts.launch.shell_tokens import Literal, Operator, Part, RawWord, Variable, tokens
from kvfence.facts.launch.variables import Variables
from kvfence.facts.launch.words import TEMPLATE, Command, Word
from kvfence.facts.launch.yaml_tree import Items, Mapping, Scalar, Value

_IN_KUBERNETES = re.compile(r"\$(\$)?\((\w+)\)")
_IN_COMPOSE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)([^}]*)\})")
_ASSIGNED = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(.*)$")


class ContainerCommand:
    """One container's command; `lines` is the file's text, since folded text has lost its own lines."""

    def __init__(
        self,
        lines: list[str],
        *,
        folder: Path | None,
        compose: bool,
        places: Places,
        maps: ConfigMaps,
    ) -> None:
        self.lines, self.folder, self.compose = lines, folder, compose
        self.places, self.maps = places, maps
        self.gaps: list[str] = []
        self.notes: list[str] = []
        self.run: set[Scalar] = set()
        """Texts of ConfigMaps that some container runs."""
        outside = read_beside(".env", folder) if compose else None
        self._outside = Variables()
        for name, text in _dotenv(outside or ""):
            # The environment of whoever starts it stands above this file.
            self._outside.known[name] = (Word(text, 0, (), (name,)),)

    def of(self, fields: Mapping, around: Around) -> Command:
        """The command of a container with these fields."""
        env = self._environment(fields, around)
        words = [word for name in ("entrypoint", "command", "args") for word in self._words(fields.get(name), env)]
        image = fields.get("image")
        if isinstance(image, Scalar) and is_vllm_image(image.text) and not _starts_itself(fields):
            words = [Word("vllm", image.line), Word("serve", image.line), *words]
        script = self._mounted_script(words, self.maps.mounted(fields, around))
        return Command(words=script or tuple(words), env=env)

    def _mounted_script(self, words: list[Word], mounted: dict[str, Scalar]) -> tuple[Word, ...]:
        """A mounted file that the command names and that starts a server, as if a shell were given it."""
        named = {part for word in words for part in word.text.split()} if mounted else set()
        for path, scalar in mounted.items():
            if path in named and MENTIONS.search(scalar.text):
                self.run.add(scalar)
                return self.script(scalar).words
        return ()

    def script(self, scalar: Scalar) -> Command:
        """A text that holds a script, as if a shell were given it."""
        return Command(words=(Word("sh", scalar.line), Word("-c", scalar.line), self._word(scalar, {})))

    def _words(self, value: Value | None, env: dict[str, Word]) -> list[Word]:
        match value:
            case Scalar():
                return self._split(value, env)
            case Items():
                return [self._word(one, env) for one in value.values if isinstance(one, Scalar)]
            case _:
                return []

    def _word(self, scalar: Scalar, env: dict[str, Word]) -> Word:
        line = scalar.line + scalar.literal
        word = self._filled(scalar.text, line, env)
        return replace(word, text=word.text.strip("\n")) if scalar.literal else word

    def _split(self, scalar: Scalar, env: dict[str, Word]) -> list[Word]:
        """Text is split as a shell would, but no shell runs it."""
        filled = self._word(scalar, env)
        raw = [token for token in tokens(filled.text, filled.line) if not isinstance(token, Operator)]
        words = [word for token in raw if isinstance(token, RawWord) for word in Variables().expand(token)]
        words = [replace(word, defaults=(*word.defaults, *filled.defaults)) for word in words]
        return words if scalar.literal else list(self._placed(words, scalar))

    def _placed(self, words: list[Word], scalar: Scalar) -> Iterator[Word]:
        """The words of folded text at the lines on which they stand."""
        at = scalar.line
        for word in words:
            found = next((n for n in range(at, scalar.end_line + 1) if word.text in self._line(n)), None)
            at = found or at
            yield replace(word, line=at)

    def _line(self, number: int) -> str:
        file, line = self.places.at(number)
        return self.lines[line - 1] if file == self.places.home and line <= len(self.lines) else ""

    def _filled(self, text: str, line: int, env: dict[str, Word]) -> Word:
        if self.compose:
            return self._interpolated(text, line)
        holes: list[str] = ["{{…}}"] if TEMPLATE in text else []
        defaults: list[str] = []

        def put(match: re.Match[str]) -> str:
            if match[1]:
                return match[0][1:]
            value = env.get(match[2])
            if value is None or not value.known:
                holes.append(match[0])
                return match[0]
            defaults.extend(value.defaults)
            return value.text

        return Word(_IN_KUBERNETES.sub(put, text), line, tuple(holes), tuple(defaults), many=text == TEMPLATE)

    def _interpolated(self, text: str, line: int) -> Word:
        parts: list[Part] = []
        end = 0
        for match in _IN_COMPOSE.finditer(text):
            parts.append(Literal(text[end : match.start()], quoted=True))
            end = match.end()
            name = match[2] or match[3]
            parts.append(
                Variable(name, match[4] or "", quoted=True, raw=match[0]) if name else Literal("$", quoted=True)
            )
        parts.append(Literal(text[end:], quoted=True))
        (word,) = self._outside.expand(RawWord(tuple(parts), line))[:1]
        return word

    def _environment(self, fields: Mapping, around: Around) -> dict[str, Word]:
        env: dict[str, Word] = {}
        for path in _env_files(fields.get("env_file")):
            text = read_beside(path.text, self.folder)
            if text is None:
                self.gaps.append(
                    f"{self.places.told(path.line)}: the file {path.text} (env_file) was not found beside this file"
                )
            env |= {name: Word(value, path.line) for name, value in _dotenv(text or "")}
        env |= {name: Word(one.text, one.line) for name, one in self.maps.variables(fields, around)}
        for one in self.maps.missing(fields, around):
            self.notes.append(f"{self.places.told(one.line)}: what ConfigMap {one.text} sets (envFrom) was not read")
        for key in ("env", "environment"):
            for name, given in _pairs(fields.get(key)):
                unknown = Word(f"$({name})", 0, (f"$({name})",))
                env[name] = self._filled(given.text, given.line, env) if given else unknown
        for item in fields.items("env"):
            if isinstance(item, Mapping) and (called := item.text("name")) and (found := self.maps.value(item, around)):
                env[called] = Word(found.text, found.line)
        return env


def _starts_itself(fields: Mapping) -> bool:
    """Whether the container's command stands in for its image's entry point. In compose only `entrypoint` does."""
    replaced = fields.get("entrypoint") or (
        fields.get("command") if "args" in fields.values or _names_program(fields) else None
    )
    return replaced is not None


def _names_program(fields: Mapping) -> bool:
    """Whether the command's first word is a program, rather than an argument of the image's."""
    command = fields.get("command")
    first = command.values[0] if isinstance(command, Items) and command.values else command
    return (
        isinstance(first, Scalar)
        and not first.text.lstrip().startswith("-")
        and "/" not in first.text.partition(" ")[0].lstrip("/")
    )


def _pairs(value: Value | None) -> Iterator[tuple[str, Scalar | None]]:
    """The variables of a mapping, of a list of `NAME=value`, of a list of `name:` and `value:`."""
    if isinstance(value, Mapping):
        for name, one in value.values.items():
            yield name, one if isinstance(one, Scalar) else None
    for item in value.values if isinstance(value, Items) else ():
        if isinstance(item, Scalar):
            name, equals, text = item.text.partition("=")
            yield name, replace(item, text=text) if equals else None
        elif isinstance(item, Mapping) and (called := item.text("name")):
            given = item.get("value")
            yield called, given if isinstance(given, Scalar) else None


def _env_files(value: Value | None) -> Iterator[Scalar]:
    for one in value.values if isinstance(value, Items) else [value]:
        path = one.get("path") if isinstance(one, Mapping) else one
        if isinstance(path, Scalar):
            yield path


def _dotenv(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if match := _ASSIGNED.match(line):
            yield match[1], match[2].strip().strip("'\"")
