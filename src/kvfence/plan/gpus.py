"""GPUs by name: the memory that their driver reports, each with where that was read (`gpus.json`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from kvfence.errors import UsageError

MIB = 1 << 20
GIB = 1 << 30
LINKED_FROM_MIB = 60 * 1024
"""A GPU that is given by its memory alone counts as linked from here on."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One kind of GPU."""

    name: str
    memory_mib: int
    """As the driver reports it (`nvidia-smi`), which is less than the data sheet's."""
    generation: str
    source: str
    linked: bool = False
    """With NVLink between GPUs, over which a communicator keeps larger buffers."""
    cuda_gib: float | None = None
    """What CUDA reports to a program (`cudaMemGetInfo`, PyTorch's "total capacity"); a driver hides a part."""
    cuda_source: str = ""

    @property
    def memory_bytes(self) -> int:
        """The same in bytes."""
        return self.memory_mib * MIB

    @property
    def cuda_bytes(self) -> tuple[float, float, float]:
        """What CUDA reports: low, likely, high.

        Drivers differ by some hundred MiB for the same GPU (79.11 and 79.18 GiB on H100s, 39.38 and 39.50 on A100s).
        Where none was read: half a GiB less than the driver's; of those in the table 0.25 (T4) to 0.86 (A100).
        """
        if self.cuda_gib is not None:
            likely = self.cuda_gib * GIB
            return likely - 0.12 * GIB, likely, min(likely + 0.12 * GIB, self.memory_bytes)
        total = self.memory_bytes
        return (
            total - min(0.9 * GIB, total / 16),
            total - min(0.5 * GIB, total / 32),
            total - min(0.2 * GIB, total / 64),
        )


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
        return Gpu(f"{tail} MiB", int(tail), "unknown", "given on the command line", int(tail) >= LINKED_FROM_MIB)
    known = table()
    if head not in known:
        raise UsageError(
            f"--gpu {name}: not known; give one of {', '.join(known)}, or its memory as nvidia-smi shows it: "
            "--gpu mib=81559"
        )
    return known[head]
