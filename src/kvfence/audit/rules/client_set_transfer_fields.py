"""A gateway hands clients' requests to a worker as they are, fields of the transfer included.

## What it says

An ingress or a gateway's route ends in a service whose pods are prefill or decode workers, with no router in between.
Such a gateway passes bodies on: `bootstrap_host`, `bootstrap_port` and `bootstrap_room` (SGLang), or
`kv_transfer_params` (vLLM), reach the worker as the client wrote them.

Where a router stands in front, a file does not show what it removes. Then nothing is found, and the audit says how to
test it.

## Why it matters

These fields say where a request's KV is. They are the router's to set. Decode believes them: SGLang up to 0.5.23
answers over pages that nobody wrote for this request, vLLM reads the blocks that are named.

## How bad

Critical where it leads to decode, high where to prefill. A filter for bodies in the gateway would not be seen, so how
sure it is, is medium.

## What ends it

Lead clients to the router only, and let it set these fields anew or refuse requests that bring them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, engine_of, role_of
from kvfence.facts.fact import Engine, NodeFacts, Role, Way
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "client-set-transfer-fields"
CODE = "KVF402"
_GATEWAYS = frozenset({Way.INGRESS, Way.ROUTE})
_FIELDS = {
    Engine.SGLANG: "bootstrap_host, bootstrap_port and bootstrap_room",
    Engine.VLLM: "kv_transfer_params",
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each worker behind a gateway that does not look into bodies."""
    for node in deployment.nodes:
        if node.text("published") in _GATEWAYS and role_of(node) in {Role.PREFILL, Role.DECODE}:
            yield _finding(node)


def _finding(node: NodeFacts) -> Finding:
    engine = engine_of(node)
    fields = _FIELDS.get(engine, "the fields of the transfer") if engine else "the fields of the transfer"
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL if role_of(node) is Role.DECODE else Severity.HIGH,
        confidence=Confidence.MEDIUM,
        node=node.name,
        message=f"Clients' requests reach this {node.text('role')} worker without a router, with {fields} as the "
        "client wrote them.",
        evidence=node.evidence("published", "role", "port"),
        fix=f"Lead clients to the router only, and let it set {fields} anew or refuse requests that bring them.",
    )
