"""Which engine a scan runs on. Those for clusters are loaded where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kvfence.errors import UnsupportedError, UsageError
from kvfence.scan.passing.apart import Apart
from kvfence.scan.passing.engine import Engine, InThisProcess
from kvfence.scan.passing.pool import Pool
from kvfence.scan.passing.units import Unit

FEW_BYTES = 16 << 20
"""So little is read in this process: a pool would take longer to begin than the reading takes."""
HERE = "local"
"""How the address of a cluster begins that is begun on this machine, for this scan."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Of this machine."""

    workers: int


@dataclass(frozen=True, slots=True)
class RayCluster:
    """At this address; `local` for one of its own."""

    address: str
    workers: int


@dataclass(frozen=True, slots=True)
class SparkCluster:
    """At this master; `local[2,4]` for one of its own, with two workers, that begins a task four times."""

    master: str
    workers: int


Where = Processes | RayCluster | SparkCluster


def where_of(*, ray: str | None, spark: str | None, workers: int, work: Path | None) -> Where:
    """What these options ask for.

    Raises:
        UsageError: they do not go together.
    """
    if ray is not None and spark is not None:
        raise UsageError("--ray and --spark: a scan runs on one of them; leave one out")
    name, address = ("--ray", ray) if ray is not None else ("--spark", spark)
    if address is None:
        return Processes(workers)
    if not address.startswith(HERE) and work is None:
        raise UsageError(f"{name} {address}: needs --work, a folder that all its nodes see under the same path")
    return RayCluster(address, workers) if ray is not None else SparkCluster(address, workers)


def engine_for(units: Sequence[Unit], where: Where) -> Engine:
    """The engine of these units.

    Raises:
        UnsupportedError: what the cluster needs is not installed.
    """
    match where:
        case Processes():
            is_little = sum(unit.size for unit in units) <= FEW_BYTES
            return InThisProcess() if where.workers == 1 or len(units) == 1 or is_little else Pool(where.workers)
        case RayCluster():
            try:
                from kvfence.scan.passing.on_ray import OnRay  # noqa: PLC0415 — heavy, and need not be there
            except ImportError as error:
                raise UnsupportedError("--ray needs Ray, which is absent: pip install 'kvfence[ray]'") from error
            return Apart("Ray", OnRay, (where.address, where.workers))
        case SparkCluster():
            try:
                from kvfence.scan.passing.on_spark import OnSpark  # noqa: PLC0415 — the same
            except ImportError as error:
                raise UnsupportedError("--spark needs Spark, which is absent: pip install 'kvfence[spark]'") from error
            return OnSpark(where.master, where.workers)
