"""The pass: from a batch of exchanges to a row for each secret in it. No row holds one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kvfence.scan.credentials.finding import Finder, Kinds
from kvfence.scan.credentials.fingerprint import fingerprint
from kvfence.scan.credentials.rule import Found
from kvfence.scan.credentials.rule_store import rules_of
from kvfence.scan.passing.scan_pass import Kernel
from kvfence.scan.window import Window, inside

SECRETS = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("tenant", pa.string()),
        pa.field("began_ms", pa.int64()),
        pa.field("exposed", pa.bool_(), nullable=False),
        pa.field("in_prompt", pa.bool_(), nullable=False),
        pa.field("in_own_prompt", pa.bool_(), nullable=False),
        pa.field("at", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("fingerprint", pa.binary(32), nullable=False),
        pa.field("redacted", pa.string(), nullable=False),
    ]
)
"""A row for each place of a secret. `exposed`: its request is in the window. `in_own_prompt`: of an answer's, whether
the same bytes stand in the prompt of the same exchange. `at`, `length`: bytes of UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPass:
    """Finds secrets. `kinds` adds what is looked for on request."""

    key: bytes = field(repr=False)
    """Of the fingerprints."""
    window: Window
    prefilter: bytes = field(repr=False)
    """Compiled by `rule_store.rules_of` for the same `kinds`."""
    kinds: Kinds = field(default_factory=Kinds)
    name: str = "secrets"
    output: pa.Schema = field(default=SECRETS, repr=False)

    def ready(self) -> Kernel:
        """Of one process."""
        finder = Finder(self.kinds, self.prefilter)
        return lambda batch: self._rows(finder, batch)

    def told(self) -> Callable[[str], str]:
        """How a name is told: as it is, or redacted where it is itself a secret."""
        finder = Finder(self.kinds, self.prefilter)
        return lambda name: self._name(finder, name)

    def _rows(self, finder: Finder, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = list(_found_in(finder, batch))
        taken = [row for row, _, _, _ in found]
        of_rows = batch.select(["source", "offset", "id", "tenant", "began_ms"]).take(pa.array(taken, pa.int64()))
        exposed = inside(self.window, batch).take(pa.array(taken, pa.int64()))
        columns: dict[str, Any] = {name: of_rows[name] for name in ("source", "offset", "began_ms")} | {
            "id": self._names(finder, of_rows["id"]),
            "tenant": self._names(finder, of_rows["tenant"]),
            "exposed": exposed,
            "in_prompt": pa.array([in_prompt for _, in_prompt, _, _ in found], pa.bool_()),
            "in_own_prompt": pa.array([own for _, _, own, _ in found], pa.bool_()),
            "at": pa.array([one.at for _, _, _, one in found], pa.int64()),
            "length": pa.array([one.length for _, _, _, one in found], pa.int64()),
            "kind": pa.array([one.kind for _, _, _, one in found], pa.string()),
            "fingerprint": pa.array([fingerprint(self.key, one.named) for _, _, _, one in found], pa.binary(32)),
            "redacted": pa.array([one.redacted for _, _, _, one in found], pa.string()),
        }
        return pa.RecordBatch.from_arrays([columns[each.name] for each in SECRETS], schema=SECRETS)

    def _names(self, finder: Finder, column: pa.Array) -> pa.Array:
        """Ids or tenants as they can be told: where one is itself a secret (a key names its user), redacted."""
        names = column.to_pylist()
        told = {name: self._name(finder, name) for name in set(names) if name is not None}
        return pa.array([told.get(name) for name in names], pa.string())

    def _name(self, finder: Finder, name: str) -> str:
        found = finder.find(memoryview(name.encode(errors="replace")))
        if not found:
            return name
        return " ".join(f"{one.redacted} {fingerprint(self.key, one.named).hex()[:8]}" for one in found)


def secret_pass(key: bytes, window: Window, kinds: Kinds, *, rules: Path | None = None) -> SecretPass:
    """The pass, with its rules compiled: in the parent, once. `rules`: the folder that keeps them for the next run."""
    return SecretPass(key=key, window=window, prefilter=rules_of(kinds, rules), kinds=kinds)


def _found_in(finder: Finder, batch: pa.RecordBatch) -> Iterator[tuple[int, bool, bool, Found]]:
    prompts, answers = _texts(batch["prompt"]), _texts(batch["answer"])
    for row, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
        for one in finder.find(prompt):
            yield row, True, True, one
        in_answer = finder.find(answer)
        own = bytes(prompt) if in_answer else b""
        for one in in_answer:
            yield row, False, bytes(answer[one.at : one.at + one.length]) in own, one


def _texts(column: pa.Array) -> Iterator[memoryview]:
    """Each text as the bytes that Arrow holds, without a copy."""
    _, offsets, values = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1].tolist()
    whole = memoryview(values) if values else memoryview(b"")
    return (whole[start:end] for start, end in pairwise(ends))
