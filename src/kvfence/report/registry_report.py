"""A registry, and what was found by it, as tables for people and as JSON, schema 1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kvfence.findings.origin import CampaignKept, MarkerSight, at_utc
from kvfence.report.plain import plain, plain_name
from kvfence.report.probe_findings import said_of_origin

SCHEMA = 1


def document(kept: tuple[CampaignKept, ...], sights: tuple[MarkerSight, ...]) -> dict[str, Any]:
    """Ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "campaigns": [
            {
                "campaign": one.campaign,
                "seed": one.seed,
                "endpoint": one.endpoint,
                "model": one.model,
                "prompts": one.prompts,
                "markers": one.markers,
                "first_planted_at": at_utc(one.first_planted_s),
                "last_planted_at": at_utc(one.last_planted_s),
            }
            for one in kept
        ],
        "found": [
            {**asdict(sight), "planted_at": sight.origin.planted_at if sight.origin else None} for sight in sights
        ],
    }


def show_kept(kept: tuple[CampaignKept, ...], console: Console) -> None:
    """A line for each campaign."""
    table = Table("campaign", "first planted", "last planted", "prompts", "markers", "model at endpoint", "seed")
    for one in kept:
        table.add_row(
            Text(plain(one.campaign)),
            at_utc(one.first_planted_s) or "not known",
            at_utc(one.last_planted_s) or "not known",
            f"{one.prompts:,}",
            f"{one.markers:,}",
            Text(f"{plain_name(one.model)} at {plain_name(one.endpoint)}" if one.seed else plain_name(one.endpoint)),
            Text(plain(one.seed)),
        )
    console.print(table)


def show_sights(sights: tuple[MarkerSight, ...], console: Console) -> None:
    """A line for each marker that was found, masked."""
    for sight in sights:
        console.print(Text(plain(_said(sight))), soft_wrap=True)
    if not sights:
        console.print("no marker of these registries, and none with kvfence's sign")


def _said(sight: MarkerSight) -> str:
    place = f"{sight.where}:{sight.line}: {sight.shown}" + ("" if sight.is_whole else ", cut,")
    if sight.origin is None:
        return f"{place} has kvfence's sign, and no registry given here knows it"
    depth = f", depth {sight.depth} of {sight.prompt_tokens:,} prompt tokens" if sight.prompt_tokens else ""
    return f"{place} of {sight.planted_by}{depth}, {said_of_origin(sight.origin)}"
