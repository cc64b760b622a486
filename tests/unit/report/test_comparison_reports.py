"""A comparison in every format: the same rows, valid by the schemas, and no text of an endpoint is obeyed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from xmlschema import XMLSchema

from kvfence.findings.comparison import Comparison, ProviderResult, Refusals
from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.findings.verdict import Verdict
from kvfence.report.comparison_formats import FORMATS, rendered_comparison
from kvfence.report.probe_formats import ProbeFormat
from support.audit_logs import CORPUS
from support.audit_results import HOSTILE
from support.probe_results import RUN, hostile_probe, probe_of, row_of

JUNIT = [XMLSchema(str(CORPUS / "schemas" / name)) for name in ("junit.xsd", "junit-10.xsd")]


def provider(name: str, result=None, **changes: object) -> ProviderResult:
    told = ProviderResult(name=name, kind="openai", url="http://endpoint.example/v1", model="copier", result=result)
    return replace(told, **changes)  # type: ignore[arg-type]  # a test names fields that exist


def compared(*providers: ProviderResult) -> Comparison:
    return Comparison(providers=providers, seed=7, tokens=39_888, usd=0.25, seconds=12.0)


PAST = row_of(LengthVerdict.REFUSED, 8256)
HONEST = probe_of(row_of(LengthVerdict.CLEAN, 7955), PAST, verdict=ProbeVerdict.CLEAN, refused_though_declared=())
EARLY = probe_of(row_of(LengthVerdict.CLEAN, 4096), row_of(LengthVerdict.REFUSED, 7955), PAST)
LEAKY = probe_of(row_of(LengthVerdict.LEAK, 5361), row_of(LengthVerdict.LOST, 7955), PAST, verdict=ProbeVerdict.LEAK)
MIXED = compared(
    provider("honest", HONEST),
    provider("early", replace(EARLY, refused_though_declared=(7955,))),
    provider("leaky", LEAKY),
    provider("absent", stopped="the connection was refused"),
)


@pytest.mark.parametrize(
    ("rows", "refusals", "first"),
    [
        ((row_of(LengthVerdict.CLEAN, 7955), PAST), Refusals.HONEST, None),
        ((row_of(LengthVerdict.CLEAN, 7955), row_of(LengthVerdict.CLEAN, 8256)), Refusals.NONE, None),
        ((row_of(LengthVerdict.CLEAN, 7955),), Refusals.UNKNOWN, None),
        ((row_of(LengthVerdict.CLEAN, 7955), row_of(LengthVerdict.ERROR, 8256)), Refusals.ERRORS, 8256),
        ((row_of(LengthVerdict.ERROR, 4096), PAST), Refusals.HONEST, 4096),
        ((row_of(LengthVerdict.TRUNCATED, 8256),), Refusals.WRONG_ANSWERS, 8256),
        ((row_of(LengthVerdict.LOST, 7000), row_of(LengthVerdict.GARBLED, 5000), PAST), Refusals.WRONG_ANSWERS, 5000),
        ((row_of(LengthVerdict.ELSEWHERE, 5000), PAST), Refusals.HONEST, 5000),
    ],
)
def test_what_refusals_are_follows_from_the_rows(rows, refusals, first):
    """Past what is declared and below it; the shortest failure is the first, in whatever order they were asked."""
    told = provider("one", probe_of(*rows, verdict=ProbeVerdict.CLEAN, refused_though_declared=()))
    assert told.refusals is refusals
    assert (told.first_failure and told.first_failure.tokens) == first


def test_under_a_control_that_failed_nothing_is_known_of_refusals():
    """As nothing longer proves anything; nor is anything of a vendor that is not there."""
    weak = replace(HONEST, lengths=(row_of(LengthVerdict.GARBLED, 768), PAST), verdict=ProbeVerdict.WEAK_MODEL)
    assert provider("weak", weak).refusals is provider("absent").refusals is Refusals.UNKNOWN


def test_every_format_has_each_provider_with_its_row():
    """The same words everywhere."""
    for form in FORMATS:
        text = " ".join(rendered_comparison(MIXED, form, RUN).split())
        for told in ("honest", "early", "leaky", "absent", "the connection was refused"):
            assert told in text, form
        if form is not ProbeFormat.JSON:
            for told in ("7,955: refused, status 400", "5,361: leak", "too early", "answered wrongly", "not probed"):
                assert told in text, form


@pytest.mark.parametrize("form", FORMATS)
def test_room_to_think_is_told_of_the_provider_that_has_it(form):
    """Where a user looks: beside its address, and in the document by a key of its probe."""
    thinking = compared(provider("slow", replace(HONEST, thinking_tokens=1000)), provider("quick", HONEST))
    text = re.sub(r"\s+", " ", rendered_comparison(thinking, form, RUN))
    if form is ProbeFormat.JSON:
        assert [one["probe"]["thinking_tokens"] for one in json.loads(text)["providers"]] == [1000, 0]
    elif form is ProbeFormat.JUNIT:
        assert "thinking" not in text  # a provider that passed has no text of its own
    else:
        assert text.count("1,000 tokens of thinking in each answer") == 1


def test_the_document_has_each_probe_whole():
    """Beside its row; what is not known is null."""
    document = json.loads(rendered_comparison(MIXED, ProbeFormat.JSON, RUN))
    assert document["verdict"] == "found"
    assert [one["refusals"] for one in document["providers"]] == [
        "honest",
        "too early",
        "answered wrongly",
        "not known",
    ]
    assert document["providers"][0]["probe"]["lengths"][1]["tokens"] == 7955
    assert document["providers"][3]["probe"] is document["providers"][3]["first_failure"] is None
    assert document["spent"] == {"tokens": 39_888, "usd": 0.25}


def test_junit_has_a_test_for_each_provider():
    """Passed, failed, or an error where it could not be probed; a vendor's own suites are under its name."""
    root = ET.fromstring(rendered_comparison(MIXED, ProbeFormat.JUNIT, RUN))
    outcomes = {case.get("name"): [child.tag for child in case] for case in root[-1].iter("testcase")}
    assert outcomes == {"honest": [], "early": ["failure"], "leaky": ["failure"], "absent": ["error"]}
    assert "leaky: sweep" in {suite.get("name") for suite in root}


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_an_endpoint_is_obeyed(text):
    """Whatever it says in its messages: the page has our elements alone, and the XML is valid by both schemas."""
    hostile = provider("one", hostile_probe(text), url=text, model=text, pinned=text)
    comparison = compared(hostile, provider("two", stopped=text, url=text))
    junit = rendered_comparison(comparison, ProbeFormat.JUNIT, RUN)
    for schema in JUNIT:
        schema.validate(ET.fromstring(junit))
    page = rendered_comparison(comparison, ProbeFormat.HTML, RUN)
    assert set(re.findall(r"<([a-z]+)[ >]", page.split("<body>")[1])) <= {
        *("h1", "h2", "p", "b", "code", "div", "span", "ul", "li", "pre", "footer", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert "default-src 'none'" in page
    table = rendered_comparison(comparison, ProbeFormat.TABLE, RUN)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", table)


def test_the_outcome_is_the_worst_of_all():
    """Found beats unknown, and unknown beats clean."""
    assert MIXED.outcome is Verdict.FOUND
    assert compared(MIXED.providers[0], MIXED.providers[3]).outcome is Verdict.UNKNOWN
    assert compared(MIXED.providers[0]).outcome is Verdict.CLEAN
