"""Scripts and systemd units, from text to nodes with facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kvfence.facts.fact import Fact, NodeFacts, Way
from kvfence.facts.launch.arguments import Arguments
from kvfence.facts.launch.beside import Beside
from kvfence.facts.launch.exposure import Opening, docker_openings, published
from kvfence.facts.launch.front import ask_of
from kvfence.facts.launch.places import Places
from kvfence.facts.launch.server_facts import facts_of
from kvfence.facts.launch.servers import MENTIONS, Router, Server, found_in
from kvfence.facts.launch.shell import Script, read_script
from kvfence.facts.launch.words import Word
from kvfence.facts.reading import Reading

SERVERS_MAX = 256
"""Of one target. Beyond it the rest is left out, and said so."""
_UNIT_LINE = re.compile(r"^[ \t]*(?P<key>ExecStart|Environment|EnvironmentFile)[ \t]*=[ \t]*(?P<value>.*)$")
_EXEC_PREFIX = re.compile(r"^[-@:+!]+")


def read_shell(text: str, *, file: str, folder: Path | None, name: str) -> Reading:
    """The servers that a shell script starts."""
    script = read_script(text)
    found = [one for command in script.commands for one in found_in(command)]
    return reading_of(found, [*_left_out(script)], file=file, folder=folder, name=name)


def read_unit(text: str, *, file: str, folder: Path | None, name: str) -> Reading:
    """The servers that a systemd unit starts."""
    env: dict[str, Word] = {}
    gaps: list[str] = []
    found: list[Server | Router] = []
    for line, key, value in _unit_lines(text):
        if key == "EnvironmentFile":
            gaps.append(f"line {line}: what {value} sets was not read (EnvironmentFile)")
            continue
        if key == "Environment":
            env |= _assigned(value, line)
            continue
        script = read_script(_EXEC_PREFIX.sub("", value), first_line=line, env=env)
        found += [one for command in script.commands for one in found_in(replace(command, env={**env, **command.env}))]
    return reading_of(found, gaps, file=file, folder=folder, name=name)


def reading_of(found: list[Server | Router], gaps: list[str], *, file: str, folder: Path | None, name: str) -> Reading:
    """Servers as nodes; and what stands in front of them, which no file shows the inside of."""
    servers = [one for one in found if isinstance(one, Server)]
    nodes = []
    places, beside = Places.of(file), Beside(folder)
    for server in servers[:SERVERS_MAX]:
        launched = facts_of(server, places=places, beside=beside)
        gaps.extend(launched.gaps)
        called = name if len(servers) == 1 else f"{name}:{server.start.line}"
        nodes.append(NodeFacts(name=called, facts=launched.facts | _open(server, launched.facts, places), planned=True))
    gaps.extend(ask_of(one, places) for one in found if isinstance(one, Router))
    if len(servers) > SERVERS_MAX:
        gaps.append(f"it starts more than {SERVERS_MAX} servers; the later ones were left out")
    return Reading(tuple(nodes), tuple(dict.fromkeys(gaps)))


def _open(server: Server, facts: dict[str, Fact], places: Places) -> dict[str, Fact]:
    """Who can reach it: what docker publishes, or else every address of the machine, if that is what it listens on."""
    arguments = Arguments.of(server.engine, server.arguments, places)
    if any(word.text in {"docker", "podman", "nerdctl"} for word in server.before):
        return published(facts, list(docker_openings(server.before)), arguments)
    host = facts.get("host")
    if host is None or server.dynamo or host.value not in {"0.0.0.0", "::", "[::]"}:  # noqa: S104 — what it binds, not we
        return {}
    return published(facts, [Opening(Way.OWN_MACHINE, None, host.seen.line or 1, host.seen.text)], arguments)


def _left_out(script: Script) -> Iterator[str]:
    for word in script.sources:
        yield f"line {word.line}: what {word.text} sets was not read (source)"
    for document in script.here_documents:
        if MENTIONS.search(document.text):
            yield f"line {document.line}: a here-document that starts a server was not read; save it as a file"


def _unit_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The lines of interest, continued ones put together with their line ends kept."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        match = _UNIT_LINE.match(lines[at])
        first = at
        at += 1
        if match is None:
            continue
        value = match["value"]
        while value.endswith("\\") and at < len(lines):
            value += "\n" + lines[at]
            at += 1
        yield first + 1, match["key"], value


def _assigned(value: str, line: int) -> dict[str, Word]:
    """`Environment="A=b" C=d` as variables."""
    pairs = re.findall(r'"(\w+)=([^"]*)"|\'(\w+)=([^\']*)\'|(\w+)=(\S*)', value)
    named = ((one[0] or one[2] or one[4], one[1] or one[3] or one[5]) for one in pairs)
    return {name: Word(text, line) for name, text in named}
