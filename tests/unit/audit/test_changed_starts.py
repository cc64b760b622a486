"""A server that starts more than once in one log, and comes up differently."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.findings.finding import Finding, Severity
from support.audit_logs import HEADLINE, audited

SETTINGS = (
    "[2026-06-28 15:16:{second}] server_args={{'model_path': '/m', 'port': {port}, 'disaggregation_mode': '{mode}', "
    "'page_size': 64, 'tp_size': {tp}, 'quantization': {quantization}, 'enable_dp_attention': False}}"
)


def start(pool: int, *, context: int = 1000, tp: int = 8, quantization: str = "'fp8'", port: int = 1, second: int = 1):
    settings = SETTINGS.format(second=second, port=port, mode="prefill", tp=tp, quantization=quantization)
    return f"{settings}\n{HEADLINE.format(rank='', pool=pool, context=context)}"


def changes(folder: Path, *logs: str) -> list[Finding]:
    found = audited(folder, *logs).findings
    return [finding for finding in found if finding.rule == "pool-changed-between-starts"]


def test_a_smaller_pool_after_a_restart_is_told_with_what_else_changed(tmp_path: Path):
    """Both figures, both places, and the setting beside it are named; below the context it is high."""
    (finding,) = changes(tmp_path, start(2000) + "\n" + start(500, quantization="None", tp=4))
    assert finding.severity is Severity.HIGH
    assert "pool 2,000 → 500" in finding.message
    assert "tp_size 8 → 4" in finding.message
    assert {place.line for place in finding.evidence} == {2, 4}


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        (start(3000), start(2000), Severity.MEDIUM),
        (start(2000), start(3000), Severity.LOW),
        (start(3000), start(3000, context=1500), Severity.MEDIUM),
    ],
    ids=["smaller", "larger", "more promised"],
)
def test_how_bad_a_change_is_follows_from_its_direction(tmp_path: Path, before: str, after: str, severity: Severity):
    """Less room and a longer promise are worse than more room."""
    (finding,) = changes(tmp_path, f"{before}\n{after}")
    assert finding.severity is severity


@pytest.mark.parametrize(
    "logs",
    [
        (start(3000) + "\n" + start(2980),),
        (start(3000) + "\n" + start(3000),),
        (start(3000), start(2000)),
        (start(3000) + "\n" + start(2000, port=2),),
    ],
    ids=["within one part in a hundred", "the same", "two logs", "two ports"],
)
def test_what_is_no_change_of_one_server_is_no_finding(tmp_path: Path, logs: tuple[str, ...]):
    """A pool that hardly moved, another log's server, and a server at another port are not told."""
    assert changes(tmp_path, *logs) == []


def test_only_the_last_start_is_judged_by_what_it_holds(tmp_path: Path):
    """A pool that was below the context at an earlier start and is not any more is no `pool-below-context`."""
    mended = audited(tmp_path, start(500) + "\n" + start(2000))
    broken = audited(tmp_path, start(2000) + "\n" + start(500))
    assert "pool-below-context" not in {finding.rule for finding in mended.findings}
    assert [finding.node for finding in broken.findings if finding.rule == "pool-below-context"] == ["node0#2"]


def test_many_starts_make_one_finding(tmp_path: Path):
    """A crash loop with a different pool each time is told once."""
    (finding,) = changes(tmp_path, "\n".join(start(2000 + 100 * turn) for turn in range(6)))
    assert "6 starts" in finding.message
