"""How properties are tried everywhere, and in which order tests are handed out."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("kvfence", deadline=None)  # a busy machine is not a failure
settings.load_profile("kvfence")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first, in their random order: else one of them starts last and the other processes wait for it."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
