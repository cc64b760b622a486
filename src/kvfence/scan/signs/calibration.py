"""How often a sign of a given strength was right on the labelled set; `benchmarks/scan_signs` writes the table."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

REPORTED_MIN = 0.5
"""A sign that is wrong as often as right helps nobody."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Of one sign: from each strength on, the share that was right. Both rise."""

    strengths: tuple[float, ...]
    scores: tuple[float, ...]

    def score(self, strength: float) -> float:
        """0 to 1; 0 where weaker ones than any that were met cannot be judged."""
        at = bisect_right(self.strengths, strength)
        return self.scores[at - 1] if at else 0.0


def scales() -> Mapping[str, Scale]:
    """Of every sign that was measured."""
    table = json.loads(files("kvfence.scan.signs").joinpath("calibration.json").read_text(encoding="utf-8"))
    return {kind: Scale(tuple(of["strengths"]), tuple(of["scores"])) for kind, of in table["scales"].items()}
