"""Whatever is told of a node names what it was read from: nobody is sent to a log that was never given."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kvfence.audit import inspect
from kvfence.audit.inspection import judged
from kvfence.audit.source_of import Source, source_of
from kvfence.facts.endpoints.pages import Fields
from kvfence.facts.endpoints.sglang import read_server_info
from kvfence.findings.deployment import AuditResult
from support.audit_logs import INCIDENT
from support.audit_nodes import sglang

ANSWER = json.loads((INCIDENT / "sglang-0.5.19-prefill.server_info.json").read_bytes())
FILE, URL = "/answers/prefill.json", "http://10.0.0.5:30000/server_info"
_A_LOG_WAS_GIVEN = re.compile(
    r"(?i)\b(?:in|not in) the log\b|\bthe log (?:does not|goes on|from its start)|\bthis log\b"
)


def _texts(result: AuditResult) -> str:
    told = [gap.why for gap in result.not_checked]
    return " | ".join([*told, *(f"{one.message} {one.fix}" for one in result.findings)])


def _without(field: str, place: str) -> str:
    (node,) = read_server_info(Fields(place, {name: value for name, value in ANSWER.items() if name != field}), "n")
    return _texts(judged([node], ()))


@pytest.mark.parametrize("field", ["", *ANSWER])
def test_a_saved_answer_is_never_called_a_log(field: str):
    """Whichever field it lacks: no gap and no finding says that something is not in the log, or asks for its start."""
    told = _without(field, FILE)
    assert not _A_LOG_WAS_GIVEN.search(told)
    assert "what the endpoint says" not in told


@pytest.mark.parametrize("field", ["version", "disaggregation_mode", "context_length"])
def test_what_a_saved_answer_lacks_is_not_in_the_saved_answer(field: str):
    """It is said, with its own word and a way that somebody who has only a file can go."""
    told = _without(field, FILE)
    assert Source.SAVED in told
    assert "let /server_info through" not in told


@pytest.mark.parametrize("field", ["version", "disaggregation_mode", "context_length"])
def test_of_a_server_that_answers_it_is_what_the_endpoint_says(field: str):
    """The same answer, asked for now."""
    told = _without(field, URL)
    assert Source.LIVE in told
    assert Source.SAVED not in told


def test_a_log_is_a_log_and_a_command_a_command(tmp_path: Path):
    """By what was read, whatever the file is called."""
    assert source_of(sglang("prefill")) is Source.LOG
    script = tmp_path / "server_info.sh"
    script.write_text("python3 -m sglang.launch_server --model-path /m --disaggregation-mode prefill\n", "utf-8")
    assert Source.SAVED not in _texts(inspect([script]))


def test_an_answer_and_a_command_that_differ_are_called_so(tmp_path: Path):
    """The finding names both sources."""
    saved = tmp_path / "prefill.json"
    saved.write_text(json.dumps(ANSWER), "utf-8")
    script = tmp_path / "prefill.sh"
    script.write_text(
        "python3 -m sglang.launch_server --model-path /models/echo-2l --disaggregation-mode prefill "
        "--context-length 1048576\n",
        "utf-8",
    )
    (found,) = [one for one in inspect([saved, script]).findings if one.rule == "sources-disagree"]
    assert found.message.startswith("The saved answer and the launch command of this node disagree")
