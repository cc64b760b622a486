"""Campaigns of `kvfence probe` against one real server, one seed after the other, and what they come to."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.programs import run_kvfence

REQUESTS = int(os.environ.get("KVFENCE_PROBE_REQUESTS", "500"))
"""How many requests a server is asked at least; whole campaigns are made, so it may be some more."""


@dataclass(frozen=True)
class Tally:
    """What the reports of all campaigns say."""

    reports: tuple[dict[str, Any], ...]

    @property
    def requests(self) -> int:
        return sum(report["requests"] for report in self.reports)

    @property
    def verdicts(self) -> set[str]:
        return {report["verdict"] for report in self.reports}

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """Rows that say leak, or in which something foreign was seen."""
        return [row for row in self.rows() if row["verdict"] == "leak" or row["foreign"]]

    @property
    def verified(self) -> set[int]:
        return {report["verified_tokens"] for report in self.reports}

    @property
    def declared(self) -> set[int]:
        return {report["declared_context"] for report in self.reports}

    @property
    def unproved(self) -> set[str]:
        """Manners of asking that did not come to a verdict in some campaign."""
        return {
            one["name"] for report in self.reports for one in report["scenarios"] if one["verdict"] == "inconclusive"
        }

    def rows(self) -> list[dict[str, Any]]:
        """Every length of every campaign."""
        return [row for report in self.reports for row in report["lengths"]]

    def said(self) -> str:
        """One line for a person."""
        seconds = sum(report["seconds"] for report in self.reports)
        return (
            f"{self.requests} requests in {seconds:.0f} s: {sorted(self.verdicts)}, {len(self.alarms)} alarms, "
            f"declared {sorted(self.declared)}, verified {sorted(self.verified)}"
        )


def tally(url: str, folder: Path, *flags: str, requests: int = REQUESTS) -> Tally:
    """Ask in campaigns with seeds 1, 2, 3… until so many requests are made."""
    reports: list[dict[str, Any]] = []
    while sum(report["requests"] for report in reports) < requests:
        reports.append(probed(url, folder, "--seed", str(len(reports) + 1), *flags))
    whole = Tally(tuple(reports))
    print(f"\n{url}: {whole.said()}")  # noqa: T201 — pytest shows it with -s; these are the figures of docs/probe-on-engines.md
    return whole


def probed(url: str, folder: Path, *flags: str) -> dict[str, Any]:
    """The report of one campaign, which is also kept beside the server's log, and copied where that is asked for."""
    out = folder / f"probe-{len(list(folder.glob('probe-*.json')))}.json"
    ran = run_kvfence("probe", f"{url}/v1", *flags, "--format", "json", "--output", str(out), timeout=14400)
    assert ran.code in {0, 1, 3}, ran.err
    if kept := os.environ.get("KVFENCE_PROBE_REPORTS"):
        shutil.copy(out, Path(kept) / f"{folder.name}-{out.name}")
    report: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return report
