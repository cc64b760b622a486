"""Every place in core that raises Violation is reached by some test: core's own, and the pair checks here.

A pair check guards what another check has made impossible, so that no event reaches it; its fault is planted.
"""

import os
import subprocess
import sys

import pytest

from kvfence.core import decode_side, prefill_side, router_side
from kvfence.core import events as on
from kvfence.core.admission import admit
from kvfence.core.handoff import Outcome, Over, Queued, Row, Unknown, step_worker
from kvfence.core.ids import Role, RoomId
from kvfence.core.invariants import Violation
from kvfence.core.rules import FENCED, PLACEHOLDER
from support.rooms_values import PAGE, leases, offered, worker
from support.source_tree import ROOT, SOURCE, modules
from support.violation_sites import SITES_FILE, sites

RAISED_BY = ["tests/unit/core", "tests/shape/test_violations.py"]
LONG = 20 * PAGE


def test_a_row_that_leads_where_its_table_does_not_say_is_a_violation():
    """The table vouches for the state after, not only for the one before."""
    table = {(Unknown, on.RequestOffered): Row(lambda worker, _state, _event: Outcome(worker, Over()), to=(Queued,))}
    with pytest.raises(Violation, match="illegal-event: RequestOffered led to Over"):
        step_worker(table, worker(Role.DECODE), offered())


def test_a_prompt_that_passed_the_door_and_does_not_fit_behind_it_is_a_violation():
    """I1 at prefill's second look: whoever was admitted cannot be rejected later."""
    ready = prefill_side.Ready(offered(tokens=LONG), leases(pages=LONG // PAGE))
    with pytest.raises(Violation, match=f"I1: {LONG} tokens were let in at the door"):
        prefill_side._begin(worker(Role.PREFILL, pages=4), ready)


def test_decode_that_would_condemn_is_a_violation(monkeypatch):
    """I1 at decode: asked at the wrong door, under other rules, admission has an answer that decode cannot use."""
    at_the_wrong_door = {"gate": Role.PREFILL, "rules": PLACEHOLDER}
    monkeypatch.setattr(decode_side, "admit", lambda *args, **_right: admit(*args, **at_the_wrong_door))
    with pytest.raises(Violation, match="I1: decode condemns nothing"):
        decode_side.step(worker(Role.DECODE, pages=4), offered(tokens=LONG))


def test_nothing_but_a_client_opens_a_room():
    """Whatever the router's table says one day."""
    router = router_side.Router(advertised_tokens=100, rules=FENCED)
    with pytest.raises(Violation, match="illegal-event: only ClientAsked opens a room"):
        router_side._asked(router, on.ClientGone(room=RoomId(1)))


def test_nothing_but_a_measurement_moves_the_limit():
    """The same for the limit that the router promises."""
    router = router_side.Router(advertised_tokens=100, rules=FENCED)
    with pytest.raises(Violation, match="illegal-event: only LimitMeasured moves the limit"):
        router_side._limited(router, on.ClientGone(room=RoomId(1)))


@pytest.mark.slow
@pytest.mark.timeout(600)  # it runs all of core's own tests
def test_every_place_in_core_that_raises_violation_is_reached_by_a_test(tmp_path):
    """Not only every check by its name: every line that raises one; and core's tests hold under `-O` as well."""
    reached = tmp_path / "reached.txt"
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}", SITES_FILE: str(reached)}
    options = ["-q", "-p", "support.violation_sites", "-k", "not every_place_in_core"]
    options += ["-W", "ignore::pytest.PytestConfigWarning"]  # it says that asserts outside tests vanish, which is meant
    done = subprocess.run(
        [sys.executable, "-O", "-m", "pytest", *options, *RAISED_BY],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stdout
    assert unreached(reached.read_text(encoding="utf-8").splitlines()) == []


def test_a_place_that_no_test_reaches_is_told():
    """That check can fail: all but the first place reached leaves the first, nothing reached leaves all."""
    first, *others = sites(core())
    assert len(others) > 10
    assert unreached([f"{site.file}:{site.last}" for site in others]) == [str(first)]
    assert len(unreached([])) == 1 + len(others)


def core():
    return modules(SOURCE / "core")


def unreached(reached):
    return [str(site) for site in sites(core()) if not site.among(reached)]
