"""A version of facts is one, a range that runs forwards, a contradiction with both its places, or not known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kvfence.facts.known_version import (
    BOUNDS,
    Between,
    Contradiction,
    Exactly,
    KnownVersion,
    Unplaced,
    denied,
    ends,
    is_older,
    known_version,
)
from kvfence.facts.one_node import joined
from support.audit_logs import audited, only_node
from support.audit_nodes import audit_of, node, said_of, sglang

WARNED = "[2026-06-28 15:16:45] KV pool holds 681280 tokens, fewer than --context-length 1048576"
"""SGLang 0.5.23 prints it and no version before it."""
OLD_DUMP = "[2026-06-28 15:16:40] server_args=ServerArgs(model_path='/m', page_size=64, disaggregation_mode='prefill')"
"""A whole dump without a canary, in the form of a dataclass: 0.5.15 or older."""

releases = st.builds("{}.{}.{}".format, *[st.integers(0, 12)] * 3)
strange = st.one_of(releases, st.just("0.0.0.dev0"), st.just("0.1.dev9+g1a2b3c"), st.text(max_size=12))
maybe = st.one_of(st.none(), strange)


@example(oldest="0.0.0.dev0", newest="0", exact=None, fixed="0.0.0")  # found: 0 was older than 0.0.0
@given(oldest=maybe, newest=maybe, exact=maybe, fixed=releases)
def test_no_range_runs_backwards(oldest: str | None, newest: str | None, exact: str | None, fixed: str):
    """Whatever the facts say, what a report writes of them, in words or as facts, is no range that holds nothing."""
    worker = node("p", engine_version=exact, engine_version_min=oldest, engine_version_max=newest)
    version = known_version(worker.facts)
    low, high = ends(version)
    assert not (low and high and is_older(high, low))
    written = re.fullmatch(r"(\d+\.\d+\.\d+) to (\d+\.\d+\.\d+)", str(version))
    assert exact is not None or not written or not is_older(written[2], written[1])
    shown = {name: fact for name, fact in worker.facts.items() if name not in denied(worker.facts)}
    kept = known_version(shown)
    assert not isinstance(kept, Contradiction)
    assert not (isinstance(kept, Exactly) and denied(shown))
    # What is known before and after a release at once is known of no version.
    assert not (high and is_older(high, fixed) and low and not is_older(low, fixed))


@given(low=releases, high=releases)
def test_a_range_that_runs_backwards_cannot_be_made(low: str, high: str):
    """The type refuses it, and only it."""
    if is_older(high, low):
        with pytest.raises(ValueError, match="no version is"):
            Between(low, high)
    else:
        assert ends(Between(low, high)) == (low, high)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"engine_version": "0.5.21"}, "0.5.21"),
        ({"engine_version": "0.5.21", "engine_version_min": "0.5.22"}, "0.5.21"),
        ({"engine_version_min": "0.5.13"}, "0.5.13 or later"),
        ({"engine_version_max": "0.5.18"}, "0.5.18 or older"),
        ({"engine_version_min": "0.5.13", "engine_version_max": "0.5.18"}, "0.5.13 to 0.5.18"),
        ({"engine_version_min": "0.5.13", "engine_version_max": "0.5.13"}, "0.5.13"),
        ({}, "of a version that was not read"),
        ({"engine_version": "0.0.0.dev0"}, "0.0.0.dev0, a build that names no release"),
        ({"engine_version": "0.1.dev8311+g0a1b2c3"}, "0.1.dev8311+g0a1b2c3, a build that names no release"),
        ({"engine_version": "nightly"}, "nightly, a build that names no release"),
    ],
)
def test_a_version_is_told(facts: dict[str, str], told: str):
    """As a sentence puts it behind the engine's name."""
    assert str(known_version(node("p", **facts).facts)) == told


@pytest.mark.parametrize(
    "version", [Unplaced("0.0.0.dev0"), Between(None, None), known_version(node("p").facts)], ids=str
)
def test_what_is_not_known_is_on_no_side_of_a_release(version: KnownVersion):
    """A build that names no release is older than none: no fault is its own for the look of its name."""
    assert ends(version) == (None, None)
    assert not is_older("0.0.0.dev0", "0.5.20")
    assert not is_older("0.5.20", "0.0.0.dev0")


def test_lines_of_two_releases_are_a_contradiction_and_no_range(tmp_path: Path):
    """A log with an old dump and a line that only a later release prints: both lines are told, and no range."""
    worker = only_node(tmp_path, f"{OLD_DUMP}\n{WARNED}\n")
    version = known_version(worker.facts)
    assert isinstance(version, Contradiction)
    assert (version.oldest.value, version.oldest.seen.line) == ("0.5.23", 2)
    assert (version.newest.value, version.newest.seen.line) == ("0.5.15", 1)
    result = audited(tmp_path, f"{OLD_DUMP}\n{WARNED}")
    (why,) = (gap.why for gap in result.not_checked if "contradicts itself" in gap.why)
    assert "node0.log:2 says 0.5.23 or later" in why
    assert "node0.log:1 says 0.5.15 or older" in why
    everything = " ".join([*(one.message for one in result.findings), *(gap.why for gap in result.not_checked)])
    assert "0.5.23 to" not in everything
    assert all(one.facts[name] is None for one in result.nodes for name in BOUNDS)


def test_a_contradiction_leaves_the_faults_of_a_version_open():
    """Neither bound decides: what a release ends is not found, not passed, and the way out is named."""
    worker = sglang("prefill", engine_version=None, engine_version_min="0.5.22", engine_version_max="0.5.19")
    assert said_of("affected-version", worker) == []
    (gap,) = [gap for gap in audit_of(worker).not_checked if gap.decisive and "affected-version" in gap.rules]
    assert "which the log does not settle; name its address" in gap.why


def test_a_build_that_names_no_release_is_asked_for_its_code():
    """An endpoint that says 0.0.0.dev0 decides nothing by that, and is not sent to the endpoint again."""
    worker = sglang("prefill", engine_version="0.0.0.dev0")
    assert said_of("affected-version", worker) == []
    (gap,) = [gap for gap in audit_of(worker).not_checked if gap.decisive and "affected-version" in gap.rules]
    assert "0.0.0.dev0, a build that names no release" in gap.why
    assert "--source" in gap.why


def test_a_server_that_says_another_version_than_its_log_is_told():
    """The version of the endpoint lies outside the log's bounds: the log is of another start."""
    live = node("p", engine_version="0.5.16", engine="sglang")
    log = node("p", engine_version_min="0.5.22", engine="sglang")
    one = joined(live, log, "p")
    assert [(each.name, each.kept.value, each.other.value) for each in one.differing] == [
        ("engine_version", "0.5.16", "0.5.22 or later")
    ]
    assert joined(one, log, "p").differing == one.differing
    assert joined(node("p", engine_version="0.5.22", engine="sglang"), log, "p").differing == ()
    (reported,) = audit_of(one).nodes
    assert (reported.facts["engine_version"], reported.facts["engine_version_min"]) == ("0.5.16", None)
