"""A campaign from Python, against real servers on loopback."""

import asyncio

import pytest

from kvfence import probe
from kvfence.errors import TargetError, UsageError
from support.probe_servers import Behaviour, endpoint
from support.source_tree import ROOT


def test_an_address_is_enough():
    """The verdict of a server that keeps its promises, and no leak."""
    with endpoint(Behaviour(declared=4096)) as server:
        result = probe.run(server.url)
    assert (result.verdict, result.leaks) == ("clean", ())
    assert max(row.tokens for row in result.lengths) > 2048


def test_a_leak_is_in_the_result():
    """With its lengths and whose it is, from an event loop as well."""
    with endpoint(Behaviour(declared=8192, limit=4000, beyond="leak")) as server:
        result = asyncio.run(probe.run_async(server.url, limits=(4000,), bisections=0, seed=7))
    assert result.verdict == "leak"
    assert result.leaks
    assert {mark.planted_by for row in result.leaks for mark in row.evidence} == {"tenant-a"}
    assert result.seed == 7


def test_what_is_set_reaches_the_endpoint():
    """Keys, lengths and limits."""
    with endpoint(Behaviour(declared=8192, key="sesame")) as server:
        with pytest.raises(TargetError, match="wants a key"):
            probe.run(server.url)
        result = probe.run(server.url, api_keys=("sesame",), lengths=(3000,), max_requests=9, depths=3)
    assert result.requests <= 9
    assert {row.planted for row in result.lengths} == {3}
    assert any(row.tokens == 3000 for row in result.lengths)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"lenghts": (1,)}, "lenghts: no such setting"),
        ({"lengths": (0,)}, "lengths: 0 is no whole number from 1"),
        ({"depths": 65}, "depths: 65"),
        ({"api_keys": "sk-secret"}, "a tuple of one key"),
        ({"budget_usd": 1.0}, "budget_usd needs prices"),
    ],
)
def test_a_setting_that_cannot_be_is_told(settings, said):
    """One line that names it, before anything is sent."""
    with pytest.raises(UsageError, match=said) as told:
        probe.run("http://127.0.0.1:9/v1", **settings)
    assert "sk-secret" not in str(told.value)


def test_settings_beside_options_are_wrong_use():
    """Options say all."""
    with endpoint() as server, pytest.raises(UsageError, match="Options say all"):
        probe.run(probe.front.options_for(server.url, 1, {}), seed=2)


def test_what_there_is_not_is_an_attribute_error():
    """As of any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        probe.nothing  # noqa: B018 — looking it up is the test


def test_the_example_of_the_page_runs_as_it_stands():
    """With this endpoint in the place of the example's, and two keys."""
    page = (ROOT / "docs" / "in-your-tests.md").read_text("utf-8")
    example = page.partition("## A whole campaign from Python")[2].partition("```python\n")[2].partition("```")[0]
    told = []
    with endpoint(Behaviour(declared=4096)) as server:
        code = example.replace("http://127.0.0.1:8000/v1", server.url).replace("681_280", "3_000")
        names = {"probe": probe, "KEY_A": "key-a", "KEY_B": "key-b", "print": lambda *words: told.append(words)}
        exec(compile(code, "in-your-tests.md", "exec"), names)
    result = names["result"]
    assert [scenario.name for scenario in result.scenarios] == ["sweep", "alternating", "streaming"]
    assert told[-1][0] == "clean"
    assert told[-2][0] == result.requests


def test_a_setting_of_the_wrong_kind_is_one_clear_error(tmp_path):
    """A scenario that there is none of, one that lacks a pool, a name that is no tuple, facts that are none."""
    (tmp_path / "facts").write_text("no json")
    for settings, said in (
        ({"scenarios": ("nightly",)}, "no such; there are sweep"),
        ({"scenarios": ("pinned-pool",)}, "needs the pool's size"),
        ({"scenarios": "all"}, "scenarios a: there is no such"),
        ({"facts": tmp_path / "facts"}, "facts"),
        ({"multiples": (0,)}, "multiples: 0"),
    ):
        with pytest.raises(UsageError, match=said):
            probe.run("http://127.0.0.1:9/v1", **settings)
