"""Whether a model gives back JSON objects that are asked for alone: else a wrong one says nothing of the server."""

from __future__ import annotations

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.record import Scenario, Seen, of_scenario

ALONE = "a JSON object, alone"
"""Why such a one is asked for."""


def can_tell(seen: Seen) -> bool:
    """Whether every such object came back as it was; else the model fails by itself, and nothing follows."""
    controls = [one.result.verdict for one in of_scenario(seen, Scenario.JSON_ECHO) if one.result.why == ALONE]
    return all(verdict is LengthVerdict.CLEAN for verdict in controls)
