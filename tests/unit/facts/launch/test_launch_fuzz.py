"""Launch files with anything spliced in: read or refused in one line, never a hang, and no figure that nobody wrote."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from kvfence.errors import KvfenceError
from kvfence.facts.fact import FACT_NAMES, NodeFacts
from kvfence.facts.launch.read_launch import LaunchKind, launch_kind, read_launch
from support.launch_corpus import LAUNCH

SPLICES = (
    *(
        "",
        "\n",
        " ",
        "\t",
        "'",
        '"',
        "`",
        "$",
        "$(",
        "${",
        "${X:-",
        "}",
        ")",
        "(",
        "\\",
        "\\\n",
        "&",
        "|",
        ";",
        "<<E\n",
    ),
    *(
        "{{",
        "}}",
        "{{ x }}",
        "[",
        "]",
        "{",
        ": ",
        "- ",
        "&a ",
        "*a",
        "<<: *a",
        "|\n",
        ">",
        "!!x ",
        "---\n",
        "%",
        "\0",
        "é",
    ),
    *(
        "if ",
        "fi\n",
        "case x in ",
        "esac\n",
        "done\n",
        "function f {",
        "A=(",
        "A+=",
        "9" * 40,
        "-1",
        "null",
        "--",
        "--tp ",
    ),
)
NUMBERS = ("context_length", "page_size", "tp_size", "mem_fraction", "port", "pool_cap_tokens", "bootstrap_port")
FIGURE = re.compile(
    r"(--(?:context-length|max-model-len|page-size|block-size|tp|tp-size|port|mem-fraction-static))"
    r"((?:[ =]|\s*\n?\s*-\s+)\"?)(\d+(?:\.\d+)?)"
)
SECONDS_MAX = 5.0
"""Of the process itself: a busy machine is no failure."""


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, size: int, /) -> bytes:
        return self.content[:size]


def _nodes(path: Path, text: str) -> tuple[NodeFacts, ...]:
    kind = launch_kind(path.name, text.encode()[:9]) or LaunchKind.SCRIPT
    return read_launch(_Bytes(text.encode("utf-8", "replace")), kind, file="f", folder=None, name="n").nodes


def _tried(path: Path, text: str) -> tuple[tuple[NodeFacts, ...], str]:
    """The nodes, or why there are none."""
    try:
        return _nodes(path, text), ""
    except KvfenceError as refusal:
        return (), str(refusal)


def damage(chance: random.Random) -> str:
    """A file of the corpus with a few splices and cuts."""
    text = chance.choice(LAUNCH).read_text("utf-8")
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 0, 1, 8, 200)))
        text = text[:start] + chance.choice(SPLICES) * chance.choice((1, 1, 1, 50)) + text[end:]
    return text


def run(seed: int, count: int) -> None:
    """Read that many damaged files as a script and as YAML. `python -m` of this file runs as many as are asked for."""
    chance = random.Random(seed)
    for number in range(count):
        text = damage(chance)
        for name in ("f.sh", "f.yaml", "f.service"):
            begun = time.process_time()
            nodes, refused = _tried(Path(name), text)
            assert "\n" not in refused, (seed, number, name)
            assert time.process_time() - begun < SECONDS_MAX, (seed, number, name)
            for fact in (fact for node in nodes for fact in node.facts.values()):
                assert fact.seen.line >= 1, (seed, number, name)
                assert len(fact.seen.text) < 400, (seed, number, name)
            assert all(set(node.facts) <= set(FACT_NAMES) for node in nodes), (seed, number, name)


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_launch_file_stops_nothing(seed: int):
    """Anything spliced into a script, a manifest or a unit is read or refused in one line, in bounded time."""
    run(seed, 60)


@pytest.mark.parametrize(
    "path", [path for path in LAUNCH if FIGURE.search(path.read_text("utf-8"))], ids=lambda p: p.name
)
def test_a_changed_figure_gives_that_figure_or_none(path: Path):
    """A figure with digits changed, added or spoilt is claimed as it stands, or not at all."""
    text = path.read_text("utf-8")
    chance = random.Random(path.name)
    before = {str(node.facts[name].value) for node in _nodes(path, text) for name in NUMBERS if name in node.facts}
    for match in list(FIGURE.finditer(text))[:8]:
        for figure in (str(chance.randrange(2, 10**9)), match[3] + "7", match[3] + "x", "-" + match[3], "1e5", "0x10"):
            changed = text[: match.start(3)] + figure + text[match.end(3) :]
            after = {
                str(node.facts[name].value) for node in _nodes(path, changed) for name in NUMBERS if name in node.facts
            }
            assert after - before <= {figure, str(int(figure)) if figure.isdigit() else figure}, (match[0], figure)


if __name__ == "__main__":
    import sys

    run(int(sys.argv[1]), int(sys.argv[2]))
