"""`docs/log-lines.md` says that each of its lines is tested: every one of its tables is met by a line that is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kvfence.facts.read_log import understood
from support.audit_logs import INCIDENT, LOGS, body
from support.log_messages import SGLANG, SGLANG_EVENTS, VLLM, VLLM_EVENTS

PAGE = Path(__file__).parents[3] / "docs" / "log-lines.md"
_WORDS = {
    "N": r"\d[\d,]*",
    "ID": r"[\w.:-]+",
    "V": r"[\w.+]+",
    "vV": r"v[\w.+]+",
    "T": r"\w+",
    "B": r"[\w ]+",
    "C": r"\w+",
    "Rx": r"[\d.]+x",
    "k": r"\w+",
    "v": r"[^,]+",
}
_VARIABLE = re.compile(rf"(\[[^\[\]]*\]|…|\b(?:{'|'.join(_WORDS)})\b)")


def _templates() -> Iterator[str]:
    tables = (line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| "))
    for row in tables:
        yield from re.findall(r"`([^`]+)`", row.split(" | ")[0])


TEMPLATES = tuple(dict.fromkeys(_templates()))


def _pattern(template: str) -> str:
    """As a regular expression; what stands in square brackets is there, or not, or the brackets are the line's own."""
    pieces = _VARIABLE.split(template)
    return "".join(_variable(piece) if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))


def _variable(piece: str) -> str:
    if piece == "…":
        return ".*"
    if piece.startswith("["):
        return rf"(?:\[?{_pattern(piece[1:-1])}\]?)? ?"
    return _WORDS[piece]


@cache
def _lines() -> tuple[str, ...]:
    """Every message that a test prints as an engine does, and every line of the corpus."""
    printed = [message for message, *_rest in (*SGLANG, *SGLANG_EVENTS, *VLLM, *VLLM_EVENTS)]
    logged = [line for log in (*LOGS, *sorted(INCIDENT.glob("*.log"))) for line in body(log).decode().splitlines()]
    return (*printed, *logged)


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_line_of_the_page_is_met_by_one_that_is_read(template: str):
    """A line of that form is in the corpus or is printed by a test, and a reader knows it."""
    pattern = re.compile(_pattern(template))
    met = [line for line in _lines() if pattern.search(line)]
    assert met
    assert any(understood(line) for line in met)


def test_the_page_has_its_tables():
    """Rows are found at all: SGLang's sizes, its events, vLLM's; and a line that no engine prints is met by none."""
    assert len(TEMPLATES) > 70
    pattern = re.compile(_pattern("KV pool holds N tokens, more than ID"))
    assert not any(pattern.search(line) for line in _lines())
