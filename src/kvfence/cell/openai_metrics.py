"""The engine's samples as Prometheus metrics; labels are bounded, and never name a tenant or a request."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kvfence.cell.asks import Engine


class SampleCollector(Collector):
    """Asks the engine at each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterable[Metric]:
        """One family a name, one line a set of labels."""
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for sample in self._engine.samples():
            kind = CounterMetricFamily if sample.kind == "counter" else GaugeMetricFamily
            family = families.get(sample.name)
            if family is None:
                labels = [name for name, _ in sample.labels]
                family = families[sample.name] = kind(f"kvfence_{sample.name}", sample.help, labels=labels)
            family.add_metric([value for _, value in sample.labels], sample.value)
        yield GaugeMetricFamily(
            "kvfence_usable_tokens", "What /v1/models advertises, in tokens.", value=self._engine.usable_tokens
        )
        yield from families.values()
