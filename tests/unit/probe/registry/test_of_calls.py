"""An application's own canaries and campaigns know each other's markers by one file."""

import os
import random
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from openai import OpenAI

from kvfence import probe
from kvfence.errors import TargetError
from kvfence.probe.canaries.memory import Memory, Planted
from kvfence.probe.markers import Place, make_marker, pieces_in
from kvfence.probe.registry.of_calls import WAIT_S, open_registry
from kvfence.probe.registry.planted import PlantedPrompt, known_campaign
from kvfence.probe.registry.registry_file import RegistryFile
from support.chat_server import chat_server

WHEN_S = 1_790_000_000.5


def marker(number):
    return make_marker(random.Random(number), b"key", Place("t", number, 1)).text


def planted(number):
    return Planted(marker(number), f"call {number}", WHEN_S)


def whose(path, text):
    with RegistryFile(path, read_only=True) as registry:
        return registry.whose(pieces_in(text))


def test_a_marker_of_a_wrapped_call_is_known_to_a_campaign(tmp_path):
    """With the real client: application, owner of the call, and when."""
    path = tmp_path / "r"
    asked = {"model": "m", "messages": [{"role": "user", "content": "A secret of a customer. Another."}]}
    with chat_server() as server, open_registry(path, application="billing") as registry:
        client = probe.wrap(
            OpenAI(base_url=server.url, api_key="sk-never-in-a-file"),
            share=1.0,
            owner=lambda _call: "customer 7",
            registry=registry,
        )
        client.chat.completions.create(**asked)
        (text,) = set(server.markers)
    (found,) = whose(path, text)
    assert (found.text, found.tenant, found.origin.endpoint) == (text, "customer 7", "billing")
    assert found.origin.is_of_application
    assert found.origin.planted_s is not None
    assert abs(found.origin.planted_s - time.time()) < 60
    for never in (b"sk-never", b"secret of a customer", b"It is 42"):
        assert never not in path.read_bytes()


def test_a_campaigns_marker_in_an_answer_to_the_application_is_named(tmp_path):
    """Which campaign, whose, where and when; a cut one too."""
    path = tmp_path / "r"
    campaign = known_campaign(b"key", 7, "http://h/v1", "m")
    with RegistryFile(path) as file:
        prompt = PlantedPrompt(
            campaign=campaign.id,
            tenant="tenant-a",
            request=1,
            tokens=9,
            planted_ms=1_790_000_000_500,
            markers=(marker(1),),
        )
        file.plant_all((prompt,), campaigns=(campaign,))
    with open_registry(path) as registry:
        canary = probe.canary(registry=registry)
        canary.bury("A question.")
        result = canary.check(f"What is {marker(1)[6:17]}?")
    assert result.verdict is probe.CanaryVerdict.LEAK
    (foreign,) = result.foreign
    assert foreign.planted_by == f"tenant-a of campaign {campaign.id} at http://h/v1"
    assert foreign.planted_s == WHEN_S


def test_two_applications_know_each_other(tmp_path):
    """And each its own calls by their owner alone."""
    with (
        open_registry(tmp_path / "r", application="one") as one,
        open_registry(tmp_path / "r", application="two") as two,
    ):
        one.plant(planted(1))
        assert list(one.whose(pieces_in(marker(1)))) == [planted(1)]
        assert [known.owner for known in two.whose(pieces_in(marker(1)))] == ["call 1 of one"]


def test_many_threads_plant_and_ask_at_once(tmp_path):
    """Nothing is lost."""
    with open_registry(tmp_path / "r") as registry, ThreadPoolExecutor(8) as pool:
        list(pool.map(registry.plant, map(planted, range(40))))
        assert all(pool.map(lambda number: list(registry.whose(pieces_in(marker(number)))), range(40)))


def test_a_forked_process_goes_on_with_a_file_of_its_own(tmp_path):
    """As a server does that loads the application once and forks."""
    script = """
import os, sys
from pathlib import Path
from kvfence.probe.canaries.memory import Planted
from kvfence.probe.registry.of_calls import open_registry
registry = open_registry(Path(sys.argv[1]))
registry.plant(Planted(sys.argv[2], "parent", None))
if not (child := os.fork()):
    registry.plant(Planted(sys.argv[3], "child", None))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
registry.plant(Planted(sys.argv[4], "parent", None))
"""
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    path = tmp_path / "r"
    subprocess.run([sys.executable, "-c", script, path, *map(marker, range(3))], check=True)
    assert [whose(path, marker(number))[0].tenant for number in range(3)] == ["parent", "child", "parent"]


def test_a_call_waits_no_longer_than_it_may(tmp_path):
    """While another program holds the file: the marker is not planted, and the canary's own fault is told."""
    path = tmp_path / "r"
    with open_registry(path) as registry:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        with pytest.raises(TargetError, match="cannot be written"):
            registry.plant(planted(1))
        waited = time.monotonic() - began
        other.close()
        registry.plant(planted(2))
    assert waited < WAIT_S + 5
    assert not whose(path, marker(1))
    assert whose(path, marker(2))


def test_an_owner_with_anything_in_it_comes_back(tmp_path):
    """Line breaks, quotes, no character at all; half a character as its escape."""
    owners = ["", "a\nb", "'; DROP TABLE piece; --", "\0", "Ю", "\ud800"]
    with open_registry(tmp_path / "r") as registry:
        for number, owner in enumerate(owners):
            registry.plant(Planted(marker(number), owner, -5.0))
        found = [next(iter(registry.whose(pieces_in(marker(number))))) for number in range(len(owners))]
    assert [known.owner for known in found] == [*owners[:-1], "\\ud800"]
    assert {known.planted_s for known in found} == {None}


def test_nothing_of_an_http_client_is_loaded():
    """An application that has its own client pays for no other."""
    loaded = "import sys; from kvfence import probe; probe.open_registry; print('httpx' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_process_without_a_registry_knows_nobody_elses():
    """The control of all above: the memory of one process alone says that it is of outside."""
    canary = probe.canary(registry=Memory())
    canary.bury("A question.")
    (foreign,) = canary.check(marker(1)).foreign
    assert foreign.planted_s is None
