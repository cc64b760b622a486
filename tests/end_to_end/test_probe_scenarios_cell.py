"""Other manners of asking against the project's own cell: no false alarm under the fence, the leak of an open rule."""

import json

from support.programs import run_kvfence, served

USABLE = 1280
"""Tokens that the cell's prefill can keep of 2,048."""


def probed(rules, *args):
    with served("--rules", rules, "--context", "2048") as (url, _):
        ran = run_kvfence("probe", url, "--seed", "5", "--concurrency", "4", "--depths", "2", "--format", "json", *args)
    report = json.loads(ran.out)
    return ran.code, report, {one["name"]: one["verdict"] for one in report["scenarios"]}


def test_the_fence_is_clean_under_hang_ups_and_with_its_pool_full():
    """A real server and what is hardest on it: nothing but right answers. All manners take half a minute."""
    names = ("hang-up", "pinned-pool", "json-echo")
    chosen = [word for name in names for word in ("--scenario", name)]
    code, report, found = probed("fenced", *chosen, "--limit", str(USABLE), "--lengths", "1000")
    assert (code, report["verdict"]) == (0, "clean"), report["reason"]
    assert found == dict.fromkeys(("sweep", *names), "clean")
    assert report["requests"] > 50


def test_the_open_rule_leaks_in_another_manner_too():
    """What the sweep finds is found in it by itself, and only past what the pool can keep."""
    code, report, found = probed("placeholder", "--scenario", "hang-up", "--lengths", "900", "--lengths", "1400")
    assert (code, report["verdict"]) == (1, "leak")
    assert found == {"sweep": "leak", "hang-up": "leak"}
    assert all(row["tokens"] > USABLE for row in report["lengths"] if row["verdict"] != "clean")
