"""`kvfence audit http://…` as a program, against servers on loopback and against a cell that really serves."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from support.audit_logs import INCIDENT
from support.endpoint_servers import engine, sglang
from support.programs import assert_one_clear_line, run_kvfence, served, silent, tcp_server


def test_a_pair_by_address_and_by_log_is_two_nodes_with_the_incidents_findings():
    """Both addresses and both logs at once: a node each, the incident's cause, and places of both kinds."""
    logs = [str(INCIDENT / f"sglang-0.5.19-{role}.log") for role in ("prefill", "decode")]
    with engine(sglang("0.5.19-prefill")) as prefill, engine(sglang("0.5.19-decode")) as decode:
        ran = run_kvfence("audit", prefill.url, decode.url, *logs, "--format", "json")
    document = json.loads(ran.out)
    assert ran.code == 1
    assert [node["facts"]["role"] for node in document["nodes"]] == ["prefill", "decode"]
    critical = {one["rule"]: one for one in document["findings"] if one["severity"] == "critical"}
    assert {"pool-below-context", "asymmetric-pools", "affected-version", "refused-prompts-seen"} == critical.keys()
    places = {seen["file"] for seen in critical["asymmetric-pools"]["evidence"]}
    assert {f"{prefill.url}/server_info", f"{decode.url}/server_info", *logs} <= places


def test_a_log_of_an_earlier_start_is_found():
    """The pool of the running server is another one than the log's: a finding with both values and both places."""
    log = str(INCIDENT / "sglang-0.5.19-prefill.log")
    live = sglang("0.5.19-prefill", max_total_num_tokens=1024, max_req_input_len=506, internal_states=[], port=31001)
    with engine(live) as server:
        ran = run_kvfence("audit", server.url, log, "--format", "json")
    (finding,) = [one for one in json.loads(ran.out)["findings"] if one["rule"] == "sources-disagree"]
    assert "pool_tokens is 1,024, and 128 by" in finding["message"]
    assert {seen["file"] for seen in finding["evidence"]} == {f"{server.url}/server_info", log}


def test_a_cell_that_serves_is_read_by_its_address(tmp_path: Path):
    """The cell's workers are nodes, with the figures of their start lines; with its log they are no others."""
    log = tmp_path / "cell.log"
    with served("--prefill-pool", "1024", "--decode-pool", "2048", "--context", "1024") as (url, lines):
        ran = run_kvfence("audit", url, "--format", "json")
        log.write_text("\n".join(lines))
        both = json.loads(run_kvfence("audit", url, str(log), "--format", "json").out)
    assert [node["node"] for node in both["nodes"]] == ["prefill-0", "decode-0"]
    nodes = json.loads(ran.out)["nodes"]
    assert [(node["facts"]["role"], node["facts"]["pool_tokens"]) for node in nodes] == [
        ("prefill", 1024),
        ("decode", 2048),
    ]
    start = next(line for line in lines if "role=decode" in line)
    assert all(f"{name}={nodes[1]['facts'][name]}" in start for name in ("checks", "rules", "page_size", "kv_dtype"))


def test_a_cell_that_has_answered_shows_that_its_checks_ran():
    """Before a request nothing tells; after one decode's counter of verified handoffs does."""
    with served("--prefill-pool", "2048", "--decode-pool", "2048", "--context", "1024") as (url, _lines):
        before = json.loads(run_kvfence("audit", url, "--format", "json").out)
        question = {"model": "induction", "prompt": "a b c a b", "max_tokens": 4}
        answer = httpx.post(f"{url}/completions", json=question, timeout=30)
        after = json.loads(run_kvfence("audit", url, "--format", "json").out)
    assert answer.status_code == 200
    (told,) = before["not_checked"]
    assert (told["what"], told["decisive"]) == ("decode-0", False)
    assert told["why"].startswith("whether its checks run")
    assert [node["facts"]["handoffs_checked"] for node in after["nodes"]] == [None, 1]
    assert (after["findings"], after["not_checked"], after["verdict"]) == ([], [], "clean")


def test_what_cannot_be_asked_is_one_clear_line():
    """A server that hangs, an unset key variable: exit code 2 and one line, in time."""
    with tcp_server(silent) as url:
        assert_one_clear_line(run_kvfence("audit", url, timeout=60), "127.0.0.1", "did not come within 4 s")
    assert_one_clear_line(run_kvfence("audit", "http://h", "--api-key-env", "KVFENCE_NOT_SET"), "not set")


def test_a_server_that_tells_nothing_is_inconclusive(tmp_path: Path):
    """An answer that says nothing of a pool is no clean one."""
    with engine({"/v1/models": b'{"object": "list", "data": []}'}) as server:
        ran = run_kvfence("audit", server.url, "--format", "json", "-o", str(tmp_path / "audit.json"))
    assert ran.code == 3
    assert "says nothing about its pool" in (tmp_path / "audit.json").read_text("utf-8")


def test_a_web_server_is_told_apart_from_an_engine():
    """A server of web pages is inconclusive, and the line says that it is no engine's."""
    with engine({"*": b"<!doctype html><title>a shop</title>"}) as server:
        ran = run_kvfence("audit", server.url)
    assert ran.code == 3
    assert "this is no inference engine's endpoint: it answers with web pages" in " ".join(ran.out.split())
