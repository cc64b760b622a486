"""A probe as Prometheus text, read back by Prometheus' own parser."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from kvfence.findings.leak_rate import LeakRate
from kvfence.findings.recall import LengthVerdict, ProbeResult, ProbeVerdict
from kvfence.report.plain import plain_name
from kvfence.report.probe_formats import ProbeFormat
from support.audit_results import HOSTILE
from support.probe_results import RUN, hostile_probe, probe_of, row_of, written

OF = {"endpoint": "http://endpoint.example/v1", "model": "copier"}
ONE = ["requests", "leaks", "trials", "verified_tokens", "context_tokens", "cost_usd", "last_run_timestamp_seconds"]


def _samples(result: ProbeResult) -> dict[str, dict[tuple[str, ...], float]]:
    """By metric, by the labels beside endpoint and model, in the order of their names."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(written(result, ProbeFormat.PROMETHEUS)):
        for sample in family.samples:
            assert {name: sample.labels[name] for name in OF} == {
                "endpoint": plain_name(result.url),
                "model": plain_name(result.model),
            }
            rest = tuple(value for name, value in sorted(sample.labels.items()) if name not in OF)
            samples = found.setdefault(family.name.removeprefix("kvfence_probe_"), {})
            assert rest not in samples
            samples[rest] = sample.value
    return found


def test_a_leak_is_read_back_with_its_length_its_bound_and_its_cost():
    """What an alert and a panel need."""
    answers = ((LengthVerdict.LEAK, 2), (LengthVerdict.CLEAN, 1))
    result = probe_of(row_of(LengthVerdict.LEAK, 681_281, answers=answers), leak_rate=LeakRate(seen=2, trials=8))
    samples = _samples(result)
    assert samples["verdict"] == {(verdict.value,): float(verdict is ProbeVerdict.LEAK) for verdict in ProbeVerdict}
    assert samples["length_verdict"] == {("sweep", "768", "clean"): 1, ("sweep", "681281", "leak"): 1}
    assert samples["answers"][("sweep", "681281", "leak")] == 2
    assert samples["answers"][("sweep", "681281", "clean")] == 1
    assert [samples[name][()] for name in ONE] == [10, 2, 8, 768, 8192, 0.25, RUN.at.timestamp()]
    assert samples["tokens"] == {("prompt",): 38457, ("answer",): 1431}
    assert math.isclose(samples["leak_rate_upper_bound"][()], result.leak_rate.upper_bound)


def test_what_is_not_known_has_no_sample():
    """No price, no declared context, no answer that could have leaked."""
    result = probe_of(declared_context=None, spent=None, leak_rate=LeakRate(seen=0, trials=0))
    samples = _samples(result)
    assert samples.keys().isdisjoint({"cost_usd", "tokens", "context_tokens", "leak_rate_upper_bound"})
    assert samples["trials"] == {(): 0}


def test_two_rows_of_one_length_are_one_sample():
    """Such as both halves of a scenario that asks a length for two reasons."""
    result = probe_of(row_of(LengthVerdict.CLEAN, 4096), row_of(LengthVerdict.CLEAN, 4096, why="another reason"))
    assert _samples(result)["answers"][("sweep", "4096", "clean")] == 2


def test_every_name_is_the_probes_own():
    """So that an audit's file can lie beside it: node_exporter refuses one sample told twice."""
    text = written(probe_of(row_of(LengthVerdict.LOST)), ProbeFormat.PROMETHEUS)
    names = re.findall(r"^([a-z_]+)", text, re.MULTILINE)
    assert names == re.findall(r"^(kvfence_probe_[a-z_]+)", text, re.MULTILINE) != []


@pytest.mark.parametrize("text", HOSTILE)
def test_an_endpoint_cannot_break_the_format(text: str):
    """Whatever it calls itself."""
    _samples(hostile_probe(text))


@settings(max_examples=20)
@given(st.text())
def test_any_text_stays_valid(text: str):
    """The same for whatever Hypothesis thinks of."""
    _samples(replace(hostile_probe(text), verdict=ProbeVerdict.LEAK))
