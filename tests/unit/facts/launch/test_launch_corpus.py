"""Every launch file of the corpus: its facts, their places, and what could not be known."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.facts.target import read_target
from support.launch_corpus import LAUNCH, expected_facts, expected_gaps


def test_the_corpus_is_there():
    """The corpus holds seventeen public launch files in our own form, each with its source."""
    assert len(LAUNCH) == 17
    assert all("# source: " in path.read_text("utf-8") for path in LAUNCH)


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_a_launch_file_gives_exactly_the_nodes_and_facts_of_its_header(path: Path):
    """The nodes are those of the header, each with the facts it names and none that it says cannot be known."""
    expected = expected_facts(path)
    nodes = {node.name: node for node in read_target(str(path)).nodes}
    assert set(expected) == set(nodes)
    for name, facts in expected.items():
        known = nodes[name].facts
        assert facts == {fact: str(known[fact].value) if fact in known else "?" for fact in facts}


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_what_a_launch_file_does_not_say_is_a_gap(path: Path):
    """Every gap that the header names is told, and a file without one tells none that the header lacks of its kind."""
    gaps = read_target(str(path)).gaps
    assert [part for part in expected_gaps(path) if not any(part in gap for gap in gaps)] == []


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_a_flag_stands_where_its_evidence_says(path: Path):
    """The line of a fact holds the flag that it names; what is not there is told at the line of the command."""
    lines = path.read_text("utf-8").splitlines()
    for node in read_target(str(path)).nodes:
        for seen in (fact.seen for fact in node.facts.values()):
            line = lines[seen.line - 1]
            assert seen.file == str(path)
            if seen.text.startswith("--"):
                assert any(word in line for word in _spellings(seen.text.split()[0])), (seen, line)
            elif " without " in seen.text:
                assert any(word in line for word in ("launch_server", "vllm", "dynamo", "api_server")), (seen, line)


def _spellings(flag: str) -> tuple[str, ...]:
    short = {"--tp-size": "--tp", "--model-path": "--model", "--kv-transfer-config": "kv_connector"}
    long = {"--tp-size": "--tensor-parallel-size"}
    return flag, flag.replace("-", "_"), short.get(flag, flag), long.get(flag, flag)
