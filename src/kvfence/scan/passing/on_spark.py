"""Tasks on Spark, which carries their numbers by `mapInArrow`, and never a text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, PySparkImportError
from pyspark.sql import SparkSession

from kvfence.errors import TargetError, UnsupportedError
from kvfence.scan.passing.task import Job, T
from kvfence.scan.secrecy import no_core_dumps


class OnSpark:
    """Runs tasks on so many partitions. All nodes must see the inputs and the work folder under the same paths."""

    def __init__(self, master: str, workers: int) -> None:
        self._master = master
        self._workers = workers

    def run(self, job: Job[T], tasks: Sequence[T], folder: Path) -> Iterator[int]:
        """See `Engine`. Spark begins a task that failed again, as often as `spark.task.maxFailures` says.

        Raises:
            TargetError: no Spark is there.
            UnsupportedError: tasks failed too often.
        """
        session = self._session()
        todo = [task.rooted() for task in tasks]
        at = folder.resolve()

        def run_some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            no_core_dumps()
            do = job.worker(at)
            for batch in batches:
                done = [do(todo[number]) for number in batch["id"].to_pylist()]
                yield pa.RecordBatch.from_arrays([pa.array(done, pa.int64())], names=["number"])

        try:
            places = session.range(len(todo), numPartitions=min(self._workers, len(todo)))
            for row in places.mapInArrow(run_some, "number long").toLocalIterator(prefetchPartitions=True):
                yield row["number"]
        except (Py4JError, PySparkException):
            raise UnsupportedError(
                f"--spark {self._master}: its tasks failed too often; its log says why. What was done stays in --work"
            ) from None
        finally:
            session.stop()

    def _session(self) -> SparkSession:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # or it would be the first python3 that is found
        builder = SparkSession.builder.master(self._master).appName("kvfence scan").config("spark.ui.enabled", "false")
        try:
            return builder.getOrCreate()
        except PySparkImportError as error:
            raise UnsupportedError("--spark needs pandas as well: pip install 'kvfence[spark]'") from error
        except (OSError, Py4JError, PySparkException) as error:
            raise TargetError(
                f"--spark {self._master}: no Spark there; is Java installed, and the address right?"
            ) from error
