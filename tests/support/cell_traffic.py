"""Traffic of several tenants through the project's own cell, recorded in the plain form, with what its oracle saw."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from kvfence.cell.documents import QUESTION, Document, make_document
from support.programs import served

CONTEXT, FITS, TOO_LONG, ANSWER = 4096, 2200, 3800, 144
"""Tokens; the cell's prefill holds 2,624 of a context of 4,096."""
ROUNDS = 2
_COUNTED = re.compile(r'^kvfence_foreign_answers_total\{worker="decode-0"\} (\S+)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A log, and which of its answers were made from another tenant's slots."""

    log: Path
    foreign: frozenset[tuple[str, str]]
    """The answer, as the taint oracle counted it, and the tenant whose secrets stand in it whole."""
    counted: int
    """Answers that the oracle counted, whatever stands in them."""
    requests: int


def recorded(rules: str, folder: Path, *, rounds: int = ROUNDS, seed: int = 1) -> Recorded:
    """In each round one tenant asks what fits, and another one what does not; then each once more what fits."""
    log = folder / f"{rules}.jsonl"
    sent: dict[str, Document] = {}
    foreign: set[tuple[str, str]] = set()
    counted = 0
    with served("--rules", rules, "--context", str(CONTEXT), "--taint", "record") as (url, _), log.open("w") as lines:
        for number, (tenant, document) in enumerate(_asked(random.Random(seed), rounds)):
            before = _oracle(url)
            record = _exchange(url, f"{rules}-{number}", tenant, document)
            lines.write(json.dumps(record) + "\n")
            if _oracle(url) > before:
                counted += 1
                text = record["response"]["choices"][0]["text"]
                foreign |= {(record["id"], owner) for owner, other in sent.items()
                            if owner != tenant and other.secrets_in(text)}  # fmt: skip
            sent[tenant] = document
    return Recorded(log, frozenset(foreign), counted, number + 1)


def _asked(chance: random.Random, rounds: int) -> Iterator[tuple[str, Document]]:
    for at in range(rounds):
        yield f"victim-{at}", make_document(chance, FITS, question=QUESTION)
        yield f"asker-{at}", make_document(chance, TOO_LONG, question=QUESTION)
        yield f"other-{at}", make_document(chance, FITS // 2, question=QUESTION)


def _exchange(url: str, name: str, tenant: str, document: Document) -> dict[str, Any]:
    body = {"model": "induction", "prompt": document.text, "max_tokens": ANSWER}
    began = time.time()
    answered = httpx.post(
        f"{url}/completions", json=body, headers={"authorization": f"Bearer key-{tenant}"}, timeout=60
    )
    return {
        "id": name,
        "created": began,
        "ended": time.time(),
        "user": tenant,
        "model": "induction",
        "status": answered.status_code,
        "request": body,
        "response": answered.json(),
    }


def _oracle(url: str) -> int:
    metrics = httpx.get(url.removesuffix("/v1") + "/metrics", timeout=60).text
    return int(float(_COUNTED.findall(metrics)[0]))
