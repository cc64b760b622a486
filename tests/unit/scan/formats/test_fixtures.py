"""A fixture of each log format, with the field names of its documentation, is read as what it says."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import pytest

from kvfence.scan.exchange import Exchange
from kvfence.scan.formats.catalogue import BY_NAME
from kvfence.scan.mapping import mapping_of
from kvfence.scan.reading.exchanges import exchange_at, exchanges_of
from kvfence.scan.reading.inputs import sources_of

CORPUS = Path(__file__).parents[3] / "corpus" / "scan"
EXPECTED = {
    path.parent.name + "/" + name: said
    for path in sorted(CORPUS.glob("*/expected.json"))
    for name, said in json.loads(path.read_text(encoding="utf-8")).items()
}


def ms_of_iso(text):
    return None if text is None else round(datetime.fromisoformat(text).timestamp() * 1000)


def as_expected(exchange):
    said = {name: value for name, value in asdict(exchange).items() if name != "place"}
    return said | {"prompt_coverage": str(exchange.prompt_coverage), "answer_coverage": str(exchange.answer_coverage)}


def with_ms(said):
    times = {f"{name}_ms": ms_of_iso(said[name]) for name in ("began", "ended")}
    return {name: value for name, value in said.items() if name not in {"began", "ended"}} | times


def source_of(name):
    """The fixture as a source; other files of it are read with it where it needs them."""
    path = CORPUS / name
    said = EXPECTED[name]
    mapping = mapping_of(str(path.with_name(said["mapping"]))) if "mapping" in said else None
    return sources_of([str(path), *(str(path.with_name(other)) for other in said.get("with", []))], mapping=mapping)[0]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fixture_is_read_as_it_says(name):
    """The format is told by the fields; id, tenant, times, texts, coverage, status and usage are in their places."""
    source = source_of(name)
    items = list(exchanges_of(source))
    assert source.format == EXPECTED[name]["format"]
    assert [as_expected(item) for item in items if isinstance(item, Exchange)] == [
        with_ms(said) for said in EXPECTED[name]["exchanges"]
    ]
    assert [item.why for item in items if not isinstance(item, Exchange)] == EXPECTED[name].get("unread", [])


@pytest.mark.parametrize("name", EXPECTED)
def test_an_exchange_of_a_fixture_is_found_again_by_its_place(name):
    """What is read at a place is what stood there in the whole reading."""
    source = source_of(name)
    for item in exchanges_of(source):
        if isinstance(item, Exchange):
            assert as_expected(exchange_at(source, item.place.offset)) == as_expected(item)


def test_each_format_of_the_catalogue_has_a_fixture():
    """None is called known here before one was read."""
    assert {said["format"] for said in EXPECTED.values()} == set(BY_NAME)
