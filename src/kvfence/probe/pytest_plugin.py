"""The pytest plugin: fixture `kv_canary`, which adds a canary to a test of an application in three lines.

All canaries of a test session know each other. Under pytest-xdist each worker is a process of its own, so markers
follow from the run's identity, the test's name and a number alone: any worker can say which test planted one.

Nothing is done, and nothing of kvfence's imported, for a session that does not use the fixture.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kvfence.probe.canaries.in_tests import CanaryOfTest, Session
    from kvfence.probe.registry.of_calls import RegistryOfCalls

_SESSION: pytest.StashKey[Session] = pytest.StashKey()
_FAILED: pytest.StashKey[bool] = pytest.StashKey()
TESTS_WAIT_S = 30.0
"""How long a test waits for another that writes to the registry: all of a run may."""
REGISTRY = "kv_canary_registry"
MARK = "kv_canary(depth=None, lost='fail'): where the canary goes, from 0 to 1; lost='warn' for a model that forgets"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the registry in pytest.ini, or as `-o kv_canary_registry=FILE`."""
    said = "file in which canaries are remembered beyond this run, shared with `kvfence probe --registry`"
    parser.addini(REGISTRY, said, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, for `--strict-markers`."""
    config.addinivalue_line("markers", MARK)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Remember that a test with a canary failed by itself: then its canary need not be checked."""
    report = yield
    if _FAILED in item.stash and getattr(report, "when", "") == "call":
        item.stash[_FAILED] = not getattr(report, "passed", False)
    return report


@pytest.fixture
def kv_canary(request: pytest.FixtureRequest) -> Iterator[CanaryOfTest]:
    """A canary for this test's prompts: `answer = ask(kv_canary.bury(prompt))`, then `kv_canary.check(answer)`.

    `check` fails the test where the answer is another prompt's, garbled, or without its marker; it returns the result,
    whose `answer` is without the marker. A prompt whose answer was never checked fails the test as well.
    """
    from kvfence.probe.canaries.in_tests import Session  # noqa: PLC0415 — only for those who use it

    config, node = request.config, request.node
    if _SESSION not in config.stash:
        of_xdist = getattr(config, "workerinput", {})
        run = of_xdist.get("testrunuid") or secrets.token_hex(16)
        config.stash[_SESSION] = Session(run, request.session.items, _registry(config))
    node.stash[_FAILED] = False
    mark = node.get_closest_marker("kv_canary")
    canary = config.stash[_SESSION].canary(node.nodeid, **(mark.kwargs if mark else {}))
    yield canary
    if not node.stash[_FAILED] and canary.unchecked:
        pytest.fail("a canary was buried and never checked: call kv_canary.check(answer)", pytrace=False)


def _registry(config: pytest.Config) -> RegistryOfCalls | None:
    file = str(config.getini(REGISTRY))
    if not file:
        return None
    from kvfence.probe.registry.of_calls import RegistryOfCalls  # noqa: PLC0415 — only for those who name a file

    application = f"tests of {config.rootpath.name}"
    registry = RegistryOfCalls(config.rootpath / file, application=application, busy_s=TESTS_WAIT_S)
    config.add_cleanup(registry.close)
    return registry
