"""Scales from one half, figures from the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exchanges import Labelled

from kvfence.scan.signs.calibration import REPORTED_MIN, Scale
from kvfence.scan.signs.told import Look

STEP_MIN = 20
"""So many signs at least share a step of a scale."""


def scale_of(kind: str, look: Look, labelled: Sequence[Labelled]) -> Scale:
    """The share of right ones by strength, made to rise by pooling; one right and one wrong are added to each step."""
    seen = sorted((sign.strength, one.is_right(kind)) for one in labelled if (sign := look(one.told)) is not None)
    steps: list[list[float]] = []  # lowest strength, right, all
    for strength, right in seen:
        if steps and (steps[-1][2] < STEP_MIN or strength == steps[-1][3]):
            last = steps[-1]
            steps[-1] = [last[0], last[1] + right, last[2] + 1, strength]
        else:
            steps.append([strength, float(right), 1.0, strength])
    if len(steps) > 1 and steps[-1][2] < STEP_MIN:
        last = steps.pop()
        steps[-1] = [steps[-1][0], steps[-1][1] + last[1], steps[-1][2] + last[2], last[3]]
    merged: list[list[float]] = []
    for step in steps:
        merged.append(step)
        while len(merged) > 1 and _share(merged[-2]) >= _share(merged[-1]):
            last = merged.pop()
            merged[-1] = [merged[-1][0], merged[-1][1] + last[1], merged[-1][2] + last[2], last[3]]
    return Scale(tuple(round(step[0], 4) for step in merged), tuple(round(_share(step), 3) for step in merged))


def _share(step: Sequence[float]) -> float:
    return (step[1] + 1) / (step[2] + 2)


def figures(kind: str, look: Look, scale: Scale, labelled: Sequence[Labelled]) -> dict[str, Any]:
    """What a sign does where its scale was not made."""
    reported = right = cause = met = false = 0
    expected = 0.0
    for one in labelled:
        sign = look(one.told)
        score = scale.score(sign.strength) if sign else 0.0
        is_reported = score >= REPORTED_MIN
        is_cause = one.is_cause_for(kind)
        reported += is_reported
        right += is_reported and one.is_right(kind)
        expected += score * is_reported
        cause += is_cause
        met += is_cause and is_reported
        false += is_reported and not one.is_right(kind)
    rightful = sum(not one.is_right(kind) for one in labelled)
    return {
        "reported": reported,
        "right": right,
        "precision": _of(right, reported),
        "score_mean": _of(expected, reported),
        "cause": cause,
        "met": met,
        "recall": _of(met, cause),
        "false_per_1000": _of(1000 * false, rightful),
    }


def together(
    looks: Mapping[str, Look], scales: Mapping[str, Scale], labelled: Sequence[Labelled]
) -> list[dict[str, Any]]:
    """Of the exchanges that lost their context in each way, how many have any sign; and of the right ones."""
    rows: dict[str, list[int]] = {}
    for one in labelled:
        any_sign = any(
            (sign := look(one.told)) is not None and scales[kind].score(sign.strength) >= REPORTED_MIN
            for kind, look in looks.items()
            if kind not in {"past-limit", "usage-disagrees"}
        )
        row = rows.setdefault(one.lost or "right", [0, 0])
        row[0] += 1
        row[1] += any_sign
    return [{"way": way, "exchanges": count, "with_a_sign": signed} for way, (count, signed) in sorted(rows.items())]


def _of(part: float, whole: float) -> float | None:
    return round(part / whole, 3) if whole else None
