"""The lock file: facts of a deployment as TOML, one fact a line and sorted, so that a diff shows what moved.

Where a fact was read is left out, and so is what differs between two places of one deployment: a file that changes with
every start is not reviewed. Facts that are not known are absent.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kvfence.audit.baseline.direction import NOT_LOCKED
from kvfence.audit.baseline.lawful import TOP, wrong_name, wrong_value
from kvfence.errors import TargetError
from kvfence.findings.deployment import FactValue, Node
from kvfence.findings.finding import Evidence

SCHEMA = 1
NO_CHARACTER = "\N{REPLACEMENT CHARACTER}"
_CHARACTERS_SHOWN = 40
BYTES_MAX = 4 << 20
"""A node has some 20 lines of 30 bytes, so this is over 5,000 nodes; what is larger is not a lock file."""
_HEAD = "# What `kvfence gate` compares with. Written by `kvfence gate --write`; to be reviewed.\n"


@dataclass(frozen=True, slots=True)
class LockedNode:
    """One node as the baseline has it."""

    name: str
    facts: Mapping[str, FactValue]
    lines: Mapping[str, int]
    """For each fact, its line in the file, from 1."""


@dataclass(frozen=True, slots=True)
class Lock:
    """The whole file."""

    file: str
    nodes: tuple[LockedNode, ...]

    def evidence(self, node: LockedNode, fact: str) -> Evidence:
        """Where the baseline says it."""
        return Evidence(file=self.file, line=node.lines.get(fact), text=f"{fact} = {_value(node.facts[fact])}")


def lock_text(nodes: Sequence[Node], version: str) -> str:
    """The lock file of these nodes."""
    head = f"{_HEAD}schema = {SCHEMA}\nkvfence = {_value(version)}\n"
    return head + "".join(_section(node) for node in sorted(nodes, key=lambda node: node.name))


def write_lock(path: Path, text: str) -> bool:
    """Write the file whole or not at all; whether it changed.

    Raises:
        TargetError: it cannot be written.
    """
    try:
        if path.exists() and path.read_text(encoding="utf-8", errors="replace") == text:
            return False
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise TargetError(
            f"cannot write {path}: {error.strerror or error}. Choose another file with --baseline"
        ) from error
    return True


def read_lock(path: Path) -> Lock:
    """The file, parsed.

    Raises:
        TargetError: it is missing, not readable, or no lock file of a schema that is known; the line says what to do.
    """
    text = _text(path)
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TargetError(f"{path}: not TOML: {error}; write it again: {_how(path)}") from error
    if table.get("schema") != SCHEMA:
        raise TargetError(
            f"{path}: schema {table.get('schema')!r}, and this kvfence reads {SCHEMA}; "
            f"use the kvfence that wrote it, or write it again: {_how(path)}"
        )
    for name in table:
        _refuse(path, wrong_name(name, TOP))
    nodes = table.get("nodes", {})
    if not isinstance(nodes, dict) or not nodes:
        raise TargetError(
            f"{path}: it names no node, so there is nothing to compare with; write it again: {_how(path)}"
        )
    lines = _lines(text)
    return Lock(
        file=str(path),
        nodes=tuple(LockedNode(name, _facts(path, name, facts), lines.get(name, {})) for name, facts in nodes.items()),
    )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except FileNotFoundError as error:
        raise TargetError(f"{path}: no baseline yet; write it from what is served now: {_how(path)}") from error
    except OSError as error:
        raise TargetError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(content) > BYTES_MAX:
        raise TargetError(f"{path}: over {BYTES_MAX >> 20} MiB, so it is no lock file; name the one that --write made")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TargetError(f"{path}: not UTF-8 text, so it is no lock file; name the one that --write made") from error


def _how(path: Path) -> str:
    return f"kvfence gate --baseline {path} --write TARGET…"


def _section(node: Node) -> str:
    facts = {name: value for name, value in sorted(node.facts.items()) if value is not None and name not in NOT_LOCKED}
    return f"\n[nodes.{_value(node.name)}]\n" + "".join(f"{name} = {_value(value)}\n" for name, value in facts.items())


def _value(value: FactValue) -> str:
    """As TOML. What cannot be seen is escaped, so that a diff shows all there is."""
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    return str(value).lower()


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    half = 0xD800 <= ord(char) <= 0xDFFF  # noqa: PLR2004 — TOML has no halves of characters, paths have
    return NO_CHARACTER if half else f"\\U{ord(char):08x}"


def _facts(path: Path, node: str, facts: object) -> dict[str, FactValue]:
    if not isinstance(facts, dict):
        raise TargetError(f"{path}: node {node!r} is not a table of facts; write it again: {_how(path)}")
    for name, value in facts.items():
        _refuse(path, wrong_name(name), node)
        must_be = wrong_value(name, value)
        if must_be:
            _refuse(path, f"{name} is {_cut(value)}, and must be {must_be}", node)
    return dict(facts)


def _refuse(path: Path, wrong: str | None, node: str | None = None) -> None:
    """Say what stands in the file that no gate could hold anything against."""
    if wrong:
        where = f"{path}: " if node is None else f"{path}: node {node!r}: "
        raise TargetError(f"{where}{wrong}; correct it, or write it again: {_how(path)}")


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _CHARACTERS_SHOWN else f"{text[:_CHARACTERS_SHOWN]}…"


def _lines(text: str) -> dict[str, dict[str, int]]:
    """Where each fact of each node stands, in a file of the form that we write; of another form, nothing is known."""
    found: dict[str, dict[str, int]] = {}
    node = None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("["):
            node = _header(line)
        elif node is not None and " = " in line:
            found.setdefault(node, {})[line.partition(" = ")[0]] = number
    return found


def _header(line: str) -> str | None:
    if not (line.startswith('[nodes."') and line.endswith('"]')):
        return None
    try:
        return str(tomllib.loads(f"name = {line.removeprefix('[nodes.').removesuffix(']')}")["name"])
    except tomllib.TOMLDecodeError:
        return None
