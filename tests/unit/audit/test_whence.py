"""What is missing of a node is asked for in a way that fits what was read: never where somebody has just come from."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from kvfence.audit.baseline import check, record
from kvfence.audit.source_of import Source, source_of
from kvfence.audit.whence import facts_from, sizes_from, version_from
from kvfence.facts.fact import Engine, Fact, NodeFacts
from kvfence.findings.finding import Evidence
from support.audit_logs import INCIDENT
from support.audit_nodes import node

SEEN = {
    Source.LIVE: Evidence(file="http://10.0.0.5:30000/server_info", line=None, text="x"),
    Source.SAVED: Evidence(file="prefill.json", line=None, text="x"),
    Source.LOG: Evidence(file="prefill.log", line=1, text="x"),
    Source.COMMAND: Evidence(file="prefill.sh", line=1, text="x"),
}
ANSWERS = {role: INCIDENT / f"sglang-0.5.19-{role}.server_info.json" for role in ("prefill", "decode")}
LOG = INCIDENT / "sglang-0.5.19-prefill.log"
COMMAND = (
    "python3 -m sglang.launch_server --model-path /models/echo-2l --disaggregation-mode prefill --page-size 1 "
    "--port 31001 --disaggregation-bootstrap-port 31998 --context-length 512 --kv-canary none\n"
)


def _read_from(source: Source, engine: Engine) -> NodeFacts:
    bare = node("p", engine=engine.value)
    facts = {name: Fact(fact.value, SEEN[source]) for name, fact in bare.facts.items()}
    return replace(bare, facts=facts, planned=source is Source.COMMAND)


@pytest.mark.parametrize(("source", "engine"), [*product(Source, Engine)], ids=str)
def test_nobody_is_sent_where_he_has_come_from(source: Source, engine: Engine):
    """A log's start is asked for only of a log, pages are let through only by a server that answers, and so on."""
    worker = _read_from(source, engine)
    assert source_of(worker) is source
    several = facts_from(worker, frozenset({"pool_tokens", "engine_version"}))
    for told in (version_from(worker), facts_from(worker, frozenset({"pool_tokens"})), several):
        assert ("give the log from its start on" in told) <= (source is Source.LOG)
        assert ("through" in told) <= (source is Source.LIVE)
        assert ("start it once" in told) <= (source is Source.COMMAND)
        assert ("save the whole" in told) <= (source is Source.SAVED)
        assert ("address" in told) <= (source is not Source.LIVE)
    assert ("give the log from its start on" in sizes_from(worker)) == (source is Source.LOG)


def test_the_version_of_sglang_is_never_asked_of_a_log():
    """Its log does not say it, however early it begins."""
    for names in ({"engine_version"}, {"engine_version", "pool_tokens"}):
        told = facts_from(_read_from(Source.LOG, Engine.SGLANG), frozenset(names))
        assert "its log never does" in told


def _baseline(folder: Path) -> Path:
    lock = folder / "kvfence.lock"
    record([ANSWERS["prefill"]], lock)
    return lock


def _told(folder: Path, target: Path) -> str:
    return " | ".join(gap.why for gap in check([target], _baseline(folder)).not_checked)


def test_the_gate_asks_by_what_it_was_given(tmp_path: Path):
    """A baseline of a whole answer; now half of one, a log, a script: each is told its own way to the rest."""
    half = json.loads(ANSWERS["prefill"].read_bytes())
    for name in ("version", "context_length", "max_total_num_tokens"):
        half.pop(name, None)
    targets = {"prefill.json": json.dumps(half), "prefill.sh": COMMAND, "prefill.log": LOG.read_text("utf-8")}
    told = {}
    for name, text in targets.items():
        (tmp_path / name).write_text(text, "utf-8")
        told[name] = _told(tmp_path, tmp_path / name)
    assert "give its log or its address as well" in told["prefill.json"]
    assert "start it once and give its log" in told["prefill.sh"]
    assert "/server_info says the version, its log never does" in told["prefill.log"]
    assert all("give its log from its start on" not in one for one in told.values())
    assert not re.search("the log from its start", told["prefill.json"] + told["prefill.sh"])
