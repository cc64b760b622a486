"""The window of an advisory takes what it may be about, and nothing that a log excludes."""

from __future__ import annotations

import dataclasses

import pytest

from kvfence.scan.batches import batch_of
from kvfence.scan.exchange import Coverage, Exchange, Place
from kvfence.scan.window import INCIDENT, Window, inside

ONE = Exchange(
    place=Place(source=0, offset=0, line=1),
    id="r",
    tenant=None,
    session=None,
    model="GLM-5.3",
    provider=None,
    began_ms=1_788_000_000_000,
    ended_ms=None,
    status=200,
    finish=None,
    prompt="",
    prompt_coverage=Coverage.WHOLE,
    answer="",
    answer_coverage=Coverage.WHOLE,
    prompt_tokens=700_000,
    answer_tokens=None,
)
LONG = "x" * (681_280 * 3 + 1)


def is_inside(window, **changes):
    return inside(window, batch_of([dataclasses.replace(ONE, **changes)])).to_pylist() == [True]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"model": "zai-org/glm-5.3-fp8"}, True),
        ({"model": "glm-5.2"}, False),
        ({"model": None}, True),
        ({"began_ms": INCIDENT.from_ms}, True),
        ({"began_ms": INCIDENT.from_ms - 1}, False),
        ({"began_ms": INCIDENT.to_ms}, False),
        ({"began_ms": None}, True),
        ({"prompt_tokens": 681_280}, False),
        ({"prompt_tokens": 681_281}, True),
        ({"prompt_tokens": None}, False),
        ({"prompt_tokens": None, "prompt_coverage": Coverage.CUT}, True),
        ({"prompt_tokens": 1, "prompt": LONG}, True),
        ({"prompt_tokens": None, "prompt": LONG}, True),
    ],
)
def test_the_incident_s_window(changes, expected):
    """What is not told excludes nothing; a prompt recorded as one token is measured by its bytes."""
    assert is_inside(INCIDENT, **changes) is expected


def test_no_window_is_all():
    """Who asks nothing asks about every request; what is asked replaces a part of the preset."""
    assert is_inside(Window(), model="other", prompt_tokens=1)
    assert Window(model="other").filled_from(INCIDENT) == dataclasses.replace(INCIDENT, model="other")
