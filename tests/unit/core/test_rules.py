"""Each named rule set: its layers, and what it does with a prompt that is too long."""

import pytest

from kvfence.core.rules import (
    ALL_LAYERS,
    CLIENT_BOOTSTRAP,
    DRAIN_TIMEOUT,
    FENCED,
    FORGED_REFERENCE,
    LEASE_EXPIRY,
    NAMED,
    NO_DRAIN,
    PLACEHOLDER,
    RETIRE_AFTER_FORWARD,
    REUSED_REFERENCE,
    STALE_ACK,
    TRUNCATE,
    GivenUp,
    Layer,
    OverLong,
    Rules,
    only,
)


@pytest.mark.parametrize(
    ("rules", "name", "layers", "over_long"),
    [
        (FENCED, "fenced", set(Layer), OverLong.PLACEHOLDER),
        (PLACEHOLDER, "placeholder", set(), OverLong.PLACEHOLDER),
        (RETIRE_AFTER_FORWARD, "retire-after-forward", set(), OverLong.RETIRE_AFTER_FORWARD),
        (TRUNCATE, "truncate", set(), OverLong.TRUNCATE),
        (NO_DRAIN, "no-drain", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (DRAIN_TIMEOUT, "drain-timeout", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (STALE_ACK, "stale-ack", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (LEASE_EXPIRY, "lease-expiry", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (REUSED_REFERENCE, "reused-reference", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (FORGED_REFERENCE, "forged-reference", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (CLIENT_BOOTSTRAP, "client-bootstrap", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
    ],
)
def test_each_named_rule_set_is_what_it_says(rules, name, layers, over_long):
    """Found by its name, with these layers and no others."""
    assert NAMED[name] is rules
    assert {layer for layer in Layer if rules.has(layer)} == layers
    assert rules.over_long is over_long


def test_no_rule_set_is_without_a_case_above():
    """A new name needs its line."""
    assert set(NAMED) == {
        *("fenced", "placeholder", "retire-after-forward", "truncate"),
        *("no-drain", "drain-timeout", "stale-ack", "lease-expiry"),
        *("reused-reference", "forged-reference", "client-bootstrap"),
    }


def test_layers_print_as_start_up_lines_have_them():
    """In one order, and `none` where there are none."""
    assert FENCED.checks == "I1,I2-count,I2-digest,I3,I4,I5"
    assert PLACEHOLDER.checks == "none"


def test_only_has_these_and_a_name_that_says_so():
    """What the ablation runs."""
    assert only(Layer.READER_FENCE, Layer.CLEAN_PAGES).name == "only-I4-I5"
    assert (only().name, only().layers) == ("no-layers", frozenset())
    assert only(*Layer).layers == ALL_LAYERS


@pytest.mark.parametrize("given_up", GivenUp)
def test_what_engines_did_with_pages_given_up_is_read_only_without_the_fence_for_it(given_up):
    """With I3 pages drain until their writer is quiet, whatever else the rules say."""
    fenced = Rules("some", frozenset({Layer.WRITER_FENCE}), given_up=given_up)
    assert (fenced.drains, fenced.drains_in_time, fenced.takes_any_ack) == (True, False, False)


@pytest.mark.parametrize(
    ("rules", "drains", "in_time", "any_ack"),
    [
        (NO_DRAIN, False, False, False),
        (DRAIN_TIMEOUT, True, True, False),
        (STALE_ACK, True, False, True),
        (FENCED, True, False, False),
    ],
)
def test_each_way_of_giving_pages_up_is_one_of_these(rules, drains, in_time, any_ack):
    """At once, after a time, at any acknowledgement, or at its own."""
    assert (rules.drains, rules.drains_in_time, rules.takes_any_ack) == (drains, in_time, any_ack)


@pytest.mark.parametrize("over_long", OverLong)
def test_no_prompt_is_truncated_where_a_refusal_is_a_type(over_long):
    """Without I1 it is what the rules say."""
    assert not Rules("some", frozenset({Layer.ADMISSION}), over_long).truncates
    assert Rules("some", frozenset(), over_long).truncates is (over_long is OverLong.TRUNCATE)
