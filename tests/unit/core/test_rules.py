"""Each named rule set: its layers, and what it does with a prompt that is too long."""

import pytest

from kvfence.core.rules import (
    ALL_LAYERS,
    FENCED,
    LEASE_EXPIRY,
    NAMED,
    NO_DRAIN,
    PLACEHOLDER,
    RETIRE_AFTER_FORWARD,
    Layer,
    OverLong,
    only,
)


@pytest.mark.parametrize(
    ("rules", "name", "layers", "over_long"),
    [
        (FENCED, "fenced", set(Layer), OverLong.PLACEHOLDER),
        (PLACEHOLDER, "placeholder", set(), OverLong.PLACEHOLDER),
        (RETIRE_AFTER_FORWARD, "retire-after-forward", set(), OverLong.RETIRE_AFTER_FORWARD),
        (NO_DRAIN, "no-drain", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
        (LEASE_EXPIRY, "lease-expiry", {Layer.ADMISSION}, OverLong.PLACEHOLDER),
    ],
)
def test_each_named_rule_set_is_what_it_says(rules, name, layers, over_long):
    """Found by its name, with these layers and no others."""
    assert NAMED[name] is rules
    assert {layer for layer in Layer if rules.has(layer)} == layers
    assert rules.over_long is over_long


def test_no_rule_set_is_without_a_case_above():
    """A new name needs its line."""
    assert set(NAMED) == {"fenced", "placeholder", "retire-after-forward", "no-drain", "lease-expiry"}


def test_layers_print_as_start_up_lines_have_them():
    """In one order, and `none` where there are none."""
    assert FENCED.checks == "I1,I2-count,I2-digest,I3,I4,I5"
    assert PLACEHOLDER.checks == "none"


def test_only_has_these_and_a_name_that_says_so():
    """What the ablation runs."""
    assert only(Layer.READER_FENCE, Layer.CLEAN_PAGES).name == "only-I4-I5"
    assert (only().name, only().layers) == ("no-layers", frozenset())
    assert only(*Layer).layers == ALL_LAYERS
