"""Predictions against public logs: docs/plan-against-logs.md is the table, this holds it."""

import pytest

from support.plan_cases import FROM_CONFIG, FROM_LOG, Row, cases, medians, rows

ROWS = rows()
FAMILIES = {"MHA/GQA", "MLA", "DSA", "hybrid sliding window", "linear/Mamba hybrid"}


def _with(given: str) -> list[Row]:
    return [row for row in ROWS if row.given == given]


def test_there_are_at_least_twelve_logs_of_every_family_and_both_engines():
    """Each with a source."""
    assert len(cases()) >= 12
    assert {row.family for row in ROWS} == FAMILIES
    assert {row.engine for row in ROWS} == {"sglang", "vllm"}
    assert all(case["source"] for case in cases())


@pytest.mark.parametrize("row", _with(FROM_LOG), ids=lambda row: f"{row.engine}-{row.model}-{row.logged}")
def test_the_arithmetic_agrees_with_the_log_where_its_memory_is_given(row):
    """Within two percent each: what a log rounds, and what a rank with less memory takes."""
    assert abs(row.error) < 2.0


def test_the_median_error_of_every_family_is_small_where_the_memory_is_given():
    """Under one percent."""
    found = {family: error for (given, family), (_, error) in medians(ROWS).items() if given == FROM_LOG}
    assert set(found) == FAMILIES
    assert all(error < 1.0 for error in found.values())


@pytest.mark.parametrize("row", _with(FROM_CONFIG), ids=lambda row: f"{row.engine}-{row.model}-{row.logged}")
def test_what_was_logged_lies_between_low_and_high_from_the_config_alone(row):
    """The likely figure may be far off, and is where a profile run kept back more; the spread must not lie."""
    assert row.pool.low <= row.logged <= row.pool.high


def test_sglang_is_near_from_the_config_alone():
    """It has a formula: within six percent."""
    found = [row for row in _with(FROM_CONFIG) if row.engine == "sglang"]
    assert found
    assert all(abs(row.error) < 6.0 for row in found)
