"""A tenant that is named by its key is told, and its key is not."""

from __future__ import annotations

import json
import random

from kvfence.report.scan_facts import ScanFacts
from kvfence.report.scan_formats import ScanFormat, rendered
from kvfence.scan.examine import Asked, Means, examined
from kvfence.scan.reading.inputs import sources_of
from support.exposures import RUN
from support.foreign_texts import asked, prose
from support.planted_secrets import planted


def test_a_key_that_names_a_tenant_is_in_no_report(tmp_path):
    """Two tenants that are named by keys are still told apart, and one named by a word is told as it is."""
    keys = [planted(random.Random(seed), "github-pat").value for seed in range(2)]
    leaked = prose("leak", 400)
    records = [
        asked("one", prompt=f"rewrite this: {leaked}", answer="done", at=0, user=keys[0]),
        asked("two", prompt="what is new?", answer=f"well: {leaked} and so on", at=60, user=keys[1]),
        asked("three", prompt="and what else?", answer=f"well: {leaked} and so on", at=90, user="acme"),
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    seen = examined(sources_of([str(log)]), Asked(), Means())
    tenants = {one.tenant for match in seen.matches for one in (match.response, match.source)}
    assert len(tenants) == 3
    assert "acme" in tenants
    for form in ScanFormat:
        made = rendered(seen, form, ScanFacts(run=RUN))
        assert not any(key[6:30] in made for key in keys), form
