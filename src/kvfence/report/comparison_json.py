"""Several vendors as JSON, schema 1: each with its row of the comparison and its whole probe."""

from __future__ import annotations

from kvfence.findings.comparison import Comparison, ProviderResult
from kvfence.report import probe_json
from kvfence.report.probe_json import SCHEMA, Document


def document(comparison: Comparison) -> Document:
    """What `kvfence probe --providers FILE --format json` writes."""
    return {
        "schema": SCHEMA,
        "verdict": comparison.outcome,
        "seed": comparison.seed,
        "spent": {"tokens": comparison.tokens, "usd": comparison.usd},
        "seconds": round(comparison.seconds, 3),
        "providers": [_provider(one) for one in comparison.providers],
    }


def _provider(one: ProviderResult) -> Document:
    failed, result = one.first_failure, one.result
    return {
        "name": one.name,
        "kind": one.kind,
        "url": one.url,
        "model": one.model,
        "pinned": one.pinned,
        "declared_context": result and result.declared_context,
        "verified_tokens": result and result.verified_tokens,
        "first_failure": failed
        and {
            "tokens": failed.tokens,
            "verdict": failed.verdict,
            "status": failed.status,
            "scenario": failed.scenario,
            "detail": failed.detail,
        },
        "refusals": one.refusals,
        "verdict": result and result.verdict,
        "stopped": one.stopped,
        "probe": result and probe_json.document(result),
    }
