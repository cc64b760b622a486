"""Settings as Python prints them, and flags of commands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kvfence.facts.logs import launch, settings

NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SIMPLE = (bool, int, type(None))


@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_a_printed_dict_is_read_back(original: dict[str, object]):
    """Every top-level number, truth and None of a printed dict comes back, under its own name and no other."""
    read = settings.parse(repr(original), 0)
    assert read.complete
    assert set(read.pairs) == set(original)
    for name, value in original.items():
        if isinstance(value, SIMPLE):
            assert read.pairs[name].value == value


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), st.floats(0, 1, exclude_max=True))
def test_a_dict_cut_off_anywhere_gives_only_what_is_whole(original: dict[str, object], share: float):
    """A dict that ends too early is not complete, and what is read of it is true."""
    text = repr(original)
    read = settings.parse(text[: int(len(text) * share)], 0)
    assert not read.complete
    for name, pair in read.pairs.items():
        if isinstance(original[name], SIMPLE):
            assert pair.value == original[name]


def test_a_dataclass_and_a_bare_list_are_read():
    """`Name(a=1)` and `a=1, b='x'` give the same pairs."""
    assert settings.parse("(a=1, b='x, y', c=Foo(d=2))", 0).pairs["b"].value == "x, y"
    assert set(settings.parse("a=1, b='x', seed=0)", 0).pairs) == {"a", "b", "seed"}


def test_flags_are_read_with_and_without_values():
    """Flags take the word behind them or behind `=`; a shell's operator ends the command."""
    command = "sglang serve --model-path /m --tp=4 --allow-auto-truncate --page-size 64 2>&1 | tee --tp 9"
    flags = launch.parse(command, len("sglang serve")).flags
    assert flags == {"model_path": "/m", "tp": "4", "allow_auto_truncate": "", "page_size": "64"}


def test_an_open_quote_does_not_hide_the_flags():
    """A command cut off within a quote still gives its flags."""
    assert launch.parse('--page-size 64 --extra \'{"a": 1', 0).flags["page_size"] == "64"
