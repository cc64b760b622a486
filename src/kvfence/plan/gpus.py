"""GPUs by name: the memory that their driver reports, each with where that was read (`gpus.json`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from kvfence.errors import UsageError

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Gpu:
    """One kind of GPU."""

    name: str
    memory_mib: int
    """As the driver reports it (`nvidia-smi`), which is less than the data sheet's."""
    generation: str
    source: str

    @property
    def memory_bytes(self) -> int:
        """The same in bytes."""
        return self.memory_mib * MIB


def table() -> dict[str, Gpu]:
    """Every GPU that is known, by the name for `--gpu`."""
    rows = json.loads(files("kvfence.plan").joinpath("gpus.json").read_text(encoding="utf-8"))
    return {row["name"]: Gpu(**row) for row in rows}


def gpu_of(name: str) -> Gpu:
    """A GPU by its name, or by its memory as `MIB=81559`.

    Raises:
        UsageError: it is not in the table.
    """
    head, _, tail = name.strip().lower().partition("=")
    if head == "mib" and tail.isdecimal() and 0 < int(tail) < MIB * 16:
        return Gpu(f"{tail} MiB", int(tail), "unknown", "given on the command line")
    known = table()
    if head not in known:
        raise UsageError(
            f"--gpu {name}: not known; give one of {', '.join(known)}, or its memory as nvidia-smi shows it: "
            "--gpu mib=81559"
        )
    return known[head]
