"""Predictions against public logs: docs/plan-against-logs.md is the table, this holds it."""

import json
from statistics import median

import pytest

from support.plan_cases import CONFIGS, FROM_CONFIG, FROM_FREE, FROM_LOG, Row, cases, medians, rows
from support.plan_models import NAMES

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


@pytest.mark.parametrize(
    "row",
    [*_with(FROM_CONFIG), *_with(FROM_FREE)],
    ids=lambda row: f"{row.engine}-{row.model}-{row.logged}-{row.given[9:20]}",
)
def test_what_was_logged_lies_between_low_and_high_without_the_log_s_memory(row):
    """The likely figure may be far off, and is where a profile run kept back more; the spread must not lie."""
    assert row.pool.low <= row.logged <= row.pool.high


def test_the_median_error_from_the_config_alone_is_under_five_percent():
    """Of all rows, and of SGLang's, which has a formula for what it keeps back."""
    rows_alone = _with(FROM_CONFIG)
    assert len(rows_alone) >= 7
    assert median(abs(row.error) for row in rows_alone) < 5.0
    assert median(abs(row.error) for row in rows_alone if row.engine == "sglang") < 2.0


@pytest.mark.parametrize("row", _with(FROM_FREE), ids=lambda row: f"{row.engine}-{row.model}")
def test_free_memory_before_the_weights_is_the_figure_that_gives_the_rest(row):
    """With it each row is within three percent, whatever was wrong without."""
    assert abs(row.error) < 3.0


def test_every_model_says_what_its_values_were_checked_against():
    """Or that they were not."""
    found = json.loads(CONFIGS.read_text(encoding="utf-8"))
    assert tuple(found) == NAMES
    assert all(row["checked"] or row["remark"] for row in found.values())
    assert sum(row["checked"] is None for row in found.values()) <= 3
