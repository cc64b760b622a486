"""The counts of a wrapped client as Prometheus metrics, for an application that serves its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from kvfence.findings.canary import CanaryVerdict
from kvfence.probe.canaries.watching import BESIDE_VERDICTS, Watch
from kvfence.probe.canaries.wrapping import watch_of

OUTCOMES = (*CanaryVerdict, *BESIDE_VERDICTS)


@dataclass(frozen=True, slots=True, eq=False)
class CanaryCollector(Collector):
    """`kvfence_canary_calls_total{outcome}`, every outcome from the start, so that a first leak is a rise from 0."""

    watch: Watch = field(repr=False)

    def collect(self) -> Iterator[CounterMetricFamily]:
        """What has been counted by now."""
        said = "Calls of a wrapped client, by what came of their canary."
        family = CounterMetricFamily("kvfence_canary_calls", said, labels=["outcome"])
        counts = dict(self.watch.counts)
        for outcome in OUTCOMES:
            family.add_metric([outcome], counts.get(outcome, 0))
        yield family


def collector(client: object) -> CanaryCollector:
    """For `prometheus_client.REGISTRY.register(…)`. Raises `UsageError` for a client that was not wrapped."""
    return CanaryCollector(watch_of(client))
