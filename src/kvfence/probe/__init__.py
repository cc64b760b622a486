"""Content canaries against any OpenAI-compatible endpoint: my text and only mine, at every length claimed.

    from kvfence import probe

    result = probe.run("http://127.0.0.1:8000/v1")      # a campaign, as `kvfence probe` runs it
    canary = probe.canary()                             # one marker in a prompt of one's own
    client = probe.wrap(client)                         # a marker in a share of an application's own calls

Nothing is imported before it is used: a canary in somebody's tests needs no HTTP client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kvfence.findings.canary import CanaryResult, CanaryVerdict
    from kvfence.findings.recall import ProbeResult
    from kvfence.probe.canaries.canary import Canary, canary
    from kvfence.probe.canaries.metrics import collector
    from kvfence.probe.canaries.watching import CanaryReport
    from kvfence.probe.canaries.wrapping import counts, wrap
    from kvfence.probe.front import run, run_async
    from kvfence.probe.options import Options
    from kvfence.probe.registry.of_calls import open_registry
    from kvfence.probe.target import Bounds, Target, Tenant

__all__ = [
    "Bounds",
    "Canary",
    "CanaryReport",
    "CanaryResult",
    "CanaryVerdict",
    "Options",
    "ProbeResult",
    "Target",
    "Tenant",
    "canary",
    "collector",
    "counts",
    "open_registry",
    "run",
    "run_async",
    "wrap",
]


_OF_CALLS = frozenset({"CanaryReport", "counts", "wrap"})
_OF_CANARIES = frozenset({"Canary", "CanaryResult", "CanaryVerdict", "canary"})


def __getattr__(name: str) -> object:
    """What is public, when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'kvfence.probe' has no attribute '{name}'")
    if name in _OF_CANARIES:
        from kvfence.probe.canaries import canary as home  # noqa: PLC0415 — without the HTTP client

        return getattr(home, name)
    if name in _OF_CALLS:
        from kvfence.probe.canaries import wrapping  # noqa: PLC0415 — the same

        return getattr(wrapping, name)
    if name == "open_registry":
        from kvfence.probe.registry.of_calls import open_registry  # noqa: PLC0415 — with SQLite, and no HTTP client

        return open_registry
    if name == "collector":
        from kvfence.probe.canaries.metrics import collector  # noqa: PLC0415 — with the client library of Prometheus

        return collector
    from kvfence.probe import front  # noqa: PLC0415 — with it

    return getattr(front, name)
