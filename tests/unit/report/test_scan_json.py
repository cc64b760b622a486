"""A scan as JSON: by its published schema, with the keys that were promised, whatever the logs held."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from kvfence.report.scan_formats import ScanFormat
from support.audit_results import HOSTILE
from support.exposures import credential, exposure, exposure_of, exposures, match, sign, written
from support.source_tree import ROOT

SCHEMA = json.loads((ROOT / "docs" / "scan-1.schema.json").read_text(encoding="utf-8"))
PUBLISHED = Draft202012Validator(SCHEMA)


def document(seen) -> dict:
    made = json.loads(written(seen, ScanFormat.JSON))
    PUBLISHED.validate(made)
    return made


def test_the_schema_is_one():
    """And a document that breaks it fails: that check can fail."""
    Draft202012Validator.check_schema(SCHEMA)
    made = document(exposure(matches=(match(),)))
    for key in SCHEMA["required"]:
        assert not PUBLISHED.is_valid({name: value for name, value in made.items() if name != key})
    made["matches"][0]["score"] = 1.5
    assert not PUBLISHED.is_valid(made)


def test_every_key_is_in_the_schema():
    """What is added to the document is added to its page."""
    made = document(exposure(matches=(match(),), signs=(sign(),), credentials=(credential(),)))
    assert made.keys() == SCHEMA["properties"].keys()
    for name, kind in (("matches", "match"), ("signs", "sign"), ("secrets", "secret"), ("hours", "hour")):
        assert made[name][0].keys() == SCHEMA["$defs"][kind]["properties"].keys()


def test_the_keys_of_the_first_schema_stay():
    """A program written against them goes on working."""
    made = document(exposure(matches=(match(),), signs=(sign(),), credentials=(credential(),)))
    assert made.keys() >= {"schema", "requests", "skipped", "matches", "signs", "secrets"}
    assert made["matches"][0].keys() >= {"response_id", "source_id", "span_chars", "across_tenants", "preview"}
    assert made["secrets"][0].keys() >= {"kind", "redacted", "fingerprint", "requests"}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_in_json_as_it_is(text):
    """JSON alone can carry anything, and an id must be found again."""
    made = document(exposure_of(text))
    assert made["matches"][0]["response_id"] == text


@settings(max_examples=60)
@given(exposures)
def test_any_scan_is_by_the_schema(seen):
    """The same for whatever Hypothesis thinks of."""
    document(seen)
