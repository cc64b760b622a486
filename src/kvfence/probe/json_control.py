"""Whether a model gives back JSON objects that are asked for alone: else a wrong one says nothing of the server."""

from __future__ import annotations

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.record import Scenario, Seen, of_scenario

ALONE = "a JSON object, alone"
"""Why such a one is asked for."""


def can_tell(seen: Seen) -> bool:
    """Whether every such object came back as it was; else the model fails by itself, and nothing follows."""
    return all(verdict is LengthVerdict.CLEAN for verdict in json_verdicts(seen, ALONE))


def json_verdicts(seen: Seen, why: str) -> list[LengthVerdict]:
    """Of the objects that were asked for so; what was cut off with the probe itself is no answer."""
    own = (one for one in of_scenario(seen, Scenario.JSON_ECHO) if one.exchange.step.part == "harvest")
    return [one.result.verdict for one in own if one.exchange.step.why == why]
