"""The pass, the scores and the limit that an audit says."""

from __future__ import annotations

import dataclasses
import json

import pytest

from kvfence.errors import TargetError, UsageError
from kvfence.scan.audited_limit import limit_of
from kvfence.scan.batches import batch_of
from kvfence.scan.exchange import Coverage, Exchange, Place
from kvfence.scan.reading.source import Kind, Source
from kvfence.scan.signs.calibration import REPORTED_MIN, Scale, scales
from kvfence.scan.signs.catalogue import looks
from kvfence.scan.signs.sign_pass import Signs
from kvfence.scan.signs.telling import signs_of
from kvfence.scan.window import Window

SOURCES = [Source(number=0, target="a.jsonl", shown="a.jsonl", kind=Kind.LINES, format="plain")]
ONE = Exchange(
    place=Place(source=0, offset=70, line=3),
    id="r",
    tenant="acme",
    session=None,
    model="m",
    provider=None,
    began_ms=5,
    ended_ms=None,
    status=200,
    finish=None,
    prompt="word " * 1000,
    prompt_coverage=Coverage.WHOLE,
    answer="yes",
    answer_coverage=Coverage.WHOLE,
    prompt_tokens=1,
    answer_tokens=None,
)


EVERYTHING = Window()


def kinds(window=EVERYTHING, limit=None, **changes):
    rows = Signs(window, limit).ready()(batch_of([dataclasses.replace(ONE, **changes)]))
    assert rows.schema.equals(Signs(window).output)
    return rows["kind"].to_pylist()


def test_only_answers_that_came_with_success_inside_the_window_are_looked_at():
    """A refusal lost nothing; a log without a status is looked at."""
    assert kinds() == kinds(status=None) == ["usage-disagrees"]
    assert kinds(status=400) == kinds(status=500) == kinds(answer="") == kinds(Window(model="other")) == []
    assert kinds(limit=100) == ["past-limit", "usage-disagrees"]


def test_a_sign_is_told_with_its_request_and_its_score():
    """Nothing of a text is in it."""
    told = signs_of([Signs(Window()).ready()(batch_of([ONE]))], SOURCES)
    (sign,) = told.signs
    logged = sign.request
    assert (logged.id, logged.tenant, logged.at_ms, logged.where) == ("r", "acme", 5, "a.jsonl:3")
    assert sign.evidence == "recorded as 1 prompt tokens; its 5,000 bytes make 1,000 at least"
    assert REPORTED_MIN <= sign.score <= 1
    assert told.left_out == 0


def test_of_very_many_signs_the_surest_are_kept_in_their_order():
    """Memory is bounded, and what is left out is counted."""
    some = [dataclasses.replace(ONE, id=str(at), prompt="word " * (1000 if at % 2 else 2)) for at in range(10)]
    batch = Signs(Window()).ready()(batch_of(some))
    everything = signs_of([batch], SOURCES)
    told = signs_of([batch], SOURCES, at_most=3)
    assert told.left_out == len(everything.signs) - 3
    surest = sorted(everything.signs, key=lambda sign: -sign.score)[:3]
    assert list(told.signs) == surest


def test_a_scale_rises_and_says_nothing_below_its_first_step():
    """Weaker than any that was met cannot be judged."""
    scale = Scale((1.0, 2.0), (0.4, 0.9))
    assert [scale.score(at) for at in (0.5, 1.0, 1.9, 2.0, 99.0)] == [0.0, 0.4, 0.4, 0.9, 0.9]


def test_every_sign_was_measured():
    """And its score rises with its strength."""
    measured = scales()
    assert set(measured) == set(looks(1))
    for scale in measured.values():
        assert list(scale.strengths) == sorted(set(scale.strengths))
        assert list(scale.scores) == sorted(scale.scores)


def written(folder, document):
    path = folder / "audit.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_the_limit_of_an_audit_is_that_of_its_smallest_node(tmp_path):
    """The usable length where it is known, else the pool."""
    nodes = [
        {"facts": {"usable_length": 900, "pool_tokens": 1000}},
        {"facts": {"usable_length": None, "pool_tokens": 800}},
        {"facts": {"usable_length": None, "pool_tokens": None}},
    ]
    assert limit_of(None, written(tmp_path, {"nodes": nodes})) == 800
    assert limit_of(7, None) == 7
    assert limit_of(None, None) is None


@pytest.mark.parametrize(
    "document", ["{", "[]", {"nodes": 1}, {"nodes": []}, {"nodes": [1, {"facts": {"pool_tokens": True}}]}]
)
def test_a_file_that_is_no_audit_is_one_clear_line(tmp_path, document):
    """With what to do."""
    path = written(tmp_path, document)
    with pytest.raises(UsageError, match=r"audit\.json: .*(kvfence audit|--limit)"):
        limit_of(None, path)
    with pytest.raises(UsageError, match="both"):
        limit_of(1, path)
    with pytest.raises(TargetError, match="no-such"):
        limit_of(None, tmp_path / "no-such.json")
