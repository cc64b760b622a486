"""A scan as CSV: a row a finding, no cell a formula, what was not looked at among the rows."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings

from kvfence.report.csv_table import CELL_CHARS_MAX, IDS_MAX, csv_text, harmless
from kvfence.report.scan_csv import COLUMNS
from kvfence.report.scan_formats import ScanFormat
from support.audit_results import HOSTILE
from support.exposures import FORMULAS, credential, exposure, exposure_of, exposures, match, sign, written

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}")


def rows_of(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


def records(seen) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(seen, ScanFormat.CSV))))


def is_figure(cell: str) -> bool:
    return cell.lstrip("-").replace(".", "", 1).replace("e-", "").isdigit()


def assert_no_formula(text: str) -> None:
    for row in rows_of(text):
        for cell in row:
            assert not cell.lstrip(" ").startswith(DANGEROUS) or is_figure(cell), cell
    for row in rows_of(text, delimiter=";"):  # as a spreadsheet of another country splits it
        for cell in row[1:]:
            assert not cell.lstrip(' "').startswith(DANGEROUS), cell


def test_each_finding_is_one_row_and_the_verdict_is_the_first():
    """A filter on the first column gives each list."""
    seen = exposure(matches=(match(), match("r2")), signs=(sign(),), credentials=(credential(),))
    assert [row["record"] for row in records(seen)] == ["verdict", "match", "match", "secret", "sign"]
    (_, first, *_) = records(seen)
    assert (first["request_id"], first["source_id"], first["source_tenant"]) == ("r1", "s1", "s1 Ltd")
    assert (first["at_utc"], first["between_s"]) == ("2026-08-28 10:00:00", "2880.0")


def test_a_table_without_findings_says_what_was_not_looked_at():
    """An empty sheet would read as clean."""
    seen = exposure_of("x")
    kinds = [row["record"] for row in records(seen)]
    assert kinds.count("not covered") == 5
    assert kinds.count("not read") == 2
    assert records(exposure(not_looked_for=("secrets",)))[0]["kind"] == "unknown"


@pytest.mark.parametrize("text", [*FORMULAS, *HOSTILE])
def test_no_text_becomes_a_formula_or_a_second_row(text):
    """Neither where commas part the cells nor where semicolons do."""
    made = written(exposure_of(text), ScanFormat.CSV)
    assert_no_formula(made)
    assert len(made.splitlines()) == len(rows_of(made)) == 1 + 13
    assert {len(row) for row in rows_of(made)} == {len(COLUMNS)}


@settings(max_examples=60)
@given(exposures)
def test_any_scan_makes_a_table(seen):
    """The same for whatever Hypothesis thinks of."""
    made = written(seen, ScanFormat.CSV)
    assert_no_formula(made)
    assert {len(row) for row in rows_of(made)} == {len(COLUMNS)}


@pytest.mark.parametrize("text", ["acme", "a=b", "sk-p… (16 more)", "2026-08-28", "logs/a.jsonl:3", "x, y", ""])
def test_what_is_harmless_stays_as_it_is(text):
    """An id is found again by what the cell says."""
    assert harmless(text) == text


def test_a_cell_is_no_longer_than_a_spreadsheet_keeps():
    """Ids are listed up to a number, with how many more; a text is cut."""
    many = credential(requests=tuple(f"r{number}" for number in range(IDS_MAX + 5)))
    (_, row) = records(exposure(credentials=(many,)))
    assert row["request_ids"].endswith(f"r{IDS_MAX - 1} and 5 more")
    assert row["requests"] == str(IDS_MAX + 5)
    assert len(rows_of(csv_text(["a"], [["x" * 10**6]]))[1][0]) == CELL_CHARS_MAX + 1
