"""Every message of the tables, printed as the engine's source prints it, is read as what it says."""

from __future__ import annotations

import pytest

from kvfence.facts.fact import Kind
from kvfence.facts.logs import cell, sglang, vllm
from kvfence.facts.logs.statement import Statement
from kvfence.facts.read_log import log_anchors
from support.audit_logs import lines_found
from support.log_messages import SGLANG, SGLANG_EVENTS, VLLM, VLLM_EVENTS

SGLANG_PREFIX, VLLM_PREFIX = "[2026-12-01 10:55:26 TP0] ", "(EngineCore_DP0 pid=9) INFO 12-01 10:55:26 [core.py:1] "


def said(statement: Statement | None) -> dict[str, object]:
    assert statement
    return {one.name: one.value for one in statement.said}


@pytest.mark.parametrize(("message", "expected"), SGLANG)
def test_a_size_or_role_of_sglang_is_read(message: str, expected: dict[str, object]):
    """The message gives its figures under their names, and a search for stems finds it."""
    assert expected.items() <= said(sglang.read(SGLANG_PREFIX + message)).items()
    assert lines_found(log_anchors(), f"{message}\n".encode()) == [0]


@pytest.mark.parametrize(("message", "kind", "asked", "request_id"), SGLANG_EVENTS)
def test_an_event_of_sglang_is_read(message: str, kind: Kind, asked: int | None, request_id: str | None):
    """The message gives what happened, the prompt's length and the request, where it has them."""
    statement = sglang.read(SGLANG_PREFIX + message)
    assert statement
    (happened,) = statement.happened
    assert (happened.kind, happened.asked_tokens, happened.request) == (kind, asked, request_id)
    assert lines_found(log_anchors(), f"{message}\n".encode()) == [0]


@pytest.mark.parametrize(("message", "expected"), VLLM)
def test_a_size_or_setting_of_vllm_is_read(message: str, expected: dict[str, object]):
    """The message gives its figures under their names, and a search for stems finds it."""
    assert expected.items() <= said(vllm.read(VLLM_PREFIX + message)).items()
    assert lines_found(log_anchors(), f"{message}\n".encode()) == [0]


@pytest.mark.parametrize(("message", "kind", "asked", "request_id"), VLLM_EVENTS)
def test_an_event_of_vllm_is_read(message: str, kind: Kind, asked: int | None, request_id: str | None):
    """The message gives what happened, the prompt's length and the request, where it has them."""
    statement = vllm.read(VLLM_PREFIX + message)
    assert statement
    (happened,) = statement.happened
    assert (happened.kind, happened.asked_tokens, happened.request) == (kind, asked, request_id)
    assert lines_found(log_anchors(), f"{message}\n".encode()) == [0]


def test_a_check_that_failed_on_the_cell_is_read():
    """The cell's own line names the worker and the room."""
    line = "kvfence cell check: worker=decode-0 room=7 I2-count: 1 of 8 pages came"
    statement = cell.read(line)
    assert statement
    (happened,) = statement.happened
    assert (statement.node, happened.kind, happened.request) == ("decode-0", Kind.CHECK_FAILED, "room 7")
    assert lines_found(log_anchors(), f"{line}\n".encode()) == [0]


@pytest.mark.parametrize("message", [message for message, *_rest in (*SGLANG, *SGLANG_EVENTS, *VLLM, *VLLM_EVENTS)])
def test_a_message_in_somebodys_prompt_is_not_read(message: str):
    """A message that stands in a quoted prompt of a logged request says nothing of the engine."""
    line = f"[2026-12-01 10:55:26] Receive: obj=GenerateReqInput(rid='1', text='please explain: {message}"
    assert sglang.read(line) is None
    assert vllm.read(line) is None
