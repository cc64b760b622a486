"""Whether a model gives back short JSON objects at all: else a longer one that is wrong says nothing of the server."""

from __future__ import annotations

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.record import Scenario, Seen, of_scenario

CONTROL = "a short JSON object, alone"
"""Why such a one is asked for."""


def can_tell(seen: Seen) -> bool:
    """Whether every short object came back as it was; else the model fails by itself, and nothing follows."""
    controls = [one.result.verdict for one in of_scenario(seen, Scenario.JSON_ECHO) if one.result.why == CONTROL]
    return all(verdict is LengthVerdict.CLEAN for verdict in controls)
