"""A server's launch command and its log, made one node; what cannot be decided stays two.

The log is what is; the command is what was asked, and where they differ it is kept beside the log's value.

Nothing that both say of the server's identity may differ: engine, role, model, port, bootstrap port, a host where both
name one. Then a name decides: a pod, a container or a file is called as the command's is, or as replicas of it are;
such a command may be that of several logs. Without a name it takes role, model and port together, and that no other
log and no other command fits as well: servers on different machines are often given the same port.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kvfence.facts.fact import NodeFacts
from kvfence.facts.log_files import without_rotation
from kvfence.facts.node_name import ENDING
from kvfence.facts.one_node import IDENTITY, agree, differ, from_endpoint, hosts_differ, joined

_START = re.compile(r"#\d+$")
"""What tells the starts of one server apart."""
_REPLICA = re.compile(r"-(?:\d{1,4}(?:-\d{1,4})?|[a-z0-9]{5,10}(?:-[a-z0-9]{5})?)")
"""Behind a StatefulSet's, a compose service's or a LeaderWorkerSet's name; behind a Deployment's or a DaemonSet's."""

Pair = tuple[int, int]
"""Where a command and a log stand among the nodes."""


def with_commands(nodes: Sequence[NodeFacts]) -> tuple[list[NodeFacts], list[tuple[str, str]]]:
    """The nodes, each log joined with the one command that can be its server's; and the commands that stay apart, why.

    Where they differ the log's value is the node's.
    """
    commands = [index for index, node in enumerate(nodes) if node.planned]
    logs = [index for index, node in enumerate(nodes) if _is_logged(node)]
    fitting = [(command, log) for command in commands for log in logs if not _contradiction(nodes[command], nodes[log])]
    command_of = {log: command for command, log in _decided(nodes, fitting)}
    kept = [
        joined(node, nodes[command_of[index]], node.name) if index in command_of else node
        for index, node in enumerate(nodes)
        if index not in command_of.values()
    ]
    left = [nodes[log] for log in logs if log not in command_of]
    apart = [why for command in commands if command not in command_of.values() for why in _apart(nodes[command], left)]
    return kept, apart


def _apart(command: NodeFacts, logs: Sequence[NodeFacts]) -> Iterator[tuple[str, str]]:
    """Why a command is reported beside logs that may be of its server."""
    near = [log.name for log in logs if not _contradiction(command, log)]
    if near:
        names = ", ".join(near)
        yield command.name, f"it may be what started {names}: nothing decides it, so they are reported apart"
    for log in logs:
        other = _contradiction(command, log)
        if other and _called_alike(command, log):
            yield command.name, f"{log.name} is called like it and has another {other}, so they are reported apart"


def _decided(nodes: Sequence[NodeFacts], pairs: Sequence[Pair]) -> list[Pair]:
    """By name first, then among what is left; a name that fits several commands decides nothing."""
    named = [pair for pair in pairs if _called_alike(nodes[pair[0]], nodes[pair[1]])]
    commands_of = Counter(log for _command, log in named)
    by_name = [pair for pair in named if commands_of[pair[1]] == 1]
    taken = {command for command, _log in by_name}, {log for _command, log in by_name}
    left = [pair for pair in pairs if pair[0] not in taken[0] and pair[1] not in taken[1]]
    commands, logs = (Counter(pair[side] for pair in left) for side in (0, 1))
    return by_name + [
        (command, log)
        for command, log in left
        if commands[command] == logs[log] == 1 and agree(nodes[command], nodes[log], "role", "model", "port")
    ]


def _is_logged(node: NodeFacts) -> bool:
    """Whether what it was read from is a log, of a start that none replaces."""
    read = not all(from_endpoint(fact.seen) for fact in node.facts.values())
    return read and not node.planned and not node.superseded


def _contradiction(command: NodeFacts, log: NodeFacts) -> str:
    """What of their identity they say different things of; empty if nothing."""
    names = (*IDENTITY, "bootstrap_port")
    if found := next((name for name in names if differ(command, log, name)), ""):
        return found
    return "host" if hosts_differ(command, log) else ""


def _called_alike(command: NodeFacts, log: NodeFacts) -> bool:
    """Whether the log's node has the command's name, or one that is made of it."""
    asked, found = (_plain(command.name).partition("/")[0], _START.sub("", _plain(log.name)))
    return bool(asked) and (found == asked or _is_replica(found, asked))


def _is_replica(found: str, asked: str) -> bool:
    return found.startswith(asked) and _REPLICA.fullmatch(found, len(asked)) is not None


def _plain(name: str) -> str:
    """A node's name without the file that it is told apart by, or the file's own without folder and ending."""
    first = name.partition(" (")[0]
    file = without_rotation(Path(first).name)
    return ENDING.sub("", file) if ENDING.search(file) else first
