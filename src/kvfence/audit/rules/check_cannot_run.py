"""A content check is switched on where it cannot run.

## What it says

SGLang's KV checksum is on for a device other than CUDA or for a DeepSeek-V4 model; or the KV canary is on for a model
with an MLA or DSA pool (GLM-5, DeepSeek-V3, or an attention backend made for such pools).

## Why it matters

Nothing validates these settings at the start. The checksum asserts a CUDA device when it first digests a page, and
knows no DeepSeek-V4 pool. The canary has no attacher for MLA and DSA pools, and the server does not start. Whoever has
planned with that check has none. (Read in 0.5.19 to 0.5.23.)

## How bad

High: everybody believes that requests are checked. Confidence is high where the device was read, medium where the pool
follows from a model's name or a backend's.

## What ends it

Take the check off the list of what protects this deployment, and use one that runs there: unequal limits and foreign
text are then to be found from outside, with `kvfence audit` and `kvfence probe`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kvfence.audit.deployment import Deployment, engine_of
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.findings.finding import Confidence, Finding, Severity

ID = "check-cannot-run"
CODE = "KVF204"
_LATENT = re.compile(r"glm-?5(?!\d)|deepseek-?v3", re.IGNORECASE)
"""Models whose pools are MLA or DSA, by name."""
_LATENT_BACKENDS = frozenset({"flashmla", "cutlass_mla", "trtllm_mla", "nsa", "dsa"})
_WITHOUT_CHECKSUM = re.compile(r"deepseek-?v4", re.IGNORECASE)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each check of a node that cannot run."""
    for node in deployment.nodes:
        if engine_of(node) is not Engine.SGLANG or node.superseded:
            continue
        checksum, canary = node.fact("kv_checksum"), node.fact("kv_canary")
        if checksum and checksum.value is True:
            yield from _checksum(node)
        if canary and canary.value != "none":
            yield from _canary(node)


def _checksum(node: NodeFacts) -> Iterator[Finding]:
    device, model = node.text("device"), node.text("model")
    if device and not device.startswith("cuda"):
        yield _finding(node, "KV checksum", "kv_checksum", "device", "it runs on CUDA only")
    elif model and _WITHOUT_CHECKSUM.search(model):
        yield _finding(node, "KV checksum", "kv_checksum", "model", "it knows no pool of this model")


def _canary(node: NodeFacts) -> Iterator[Finding]:
    why = "it does not start with an MLA or DSA pool"
    if node.text("attention_backend") in _LATENT_BACKENDS:
        yield _finding(node, "KV canary", "kv_canary", "attention_backend", why)
    elif _LATENT.search(node.text("model") or ""):
        yield _finding(node, "KV canary", "kv_canary", "model", why)


def _finding(node: NodeFacts, called: str, name: str, because: str, why: str) -> Finding:
    return Finding(
        rule=ID,
        severity=Severity.HIGH,
        confidence=Confidence.HIGH if because == "device" else Confidence.MEDIUM,
        node=node.name,
        message=f"The {called} is switched on and cannot run here: {why}.",
        evidence=node.evidence(name, because),
        fix=f"Do not count on the {called} here; take it off, and use a check that runs on this device and model.",
    )
