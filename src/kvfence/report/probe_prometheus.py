"""A probe as Prometheus text, for node_exporter's textfile collector or a push gateway.

Every name begins with `kvfence_probe_` and every sample names its endpoint and model, so that files of several probes,
and of an audit, can lie in one folder. What is not known has no sample, rather than 0.
"""

from __future__ import annotations

from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from kvfence.findings.recall import ProbeResult, ProbeVerdict
from kvfence.report.run import Run


def exposition(result: ProbeResult, run: Run) -> str:
    """The whole probe in the text format; its texts must be plain."""
    board = _Board(result)
    board.tell("info", "Which kvfence wrote this, and what it asked.", 1, version=run.version)
    told = "1 for the verdict over the endpoint, 0 for the others; clean is the only good one."
    for verdict in ProbeVerdict:
        board.tell("verdict", told, verdict is result.verdict, verdict=verdict.value)
    told = "How many answers at a prompt's length, in a manner of asking, got a verdict."
    for (scenario, tokens, kind), count in sorted(_answers(result).items()):
        board.tell("answers", told, count, scenario=scenario, tokens=str(tokens), verdict=kind)
    told = "The verdict over all answers at a prompt's length, in a manner of asking: 1 for each that there is."
    for scenario, tokens, kind in sorted({(row.scenario, row.tokens, row.verdict.value) for row in result.lengths}):
        board.tell("length_verdict", told, 1, scenario=scenario, tokens=str(tokens), verdict=kind)
    rate = result.leak_rate
    board.tell("leaks", "Answers with another tenant's marker.", rate.seen)
    board.tell("trials", "Answers that could have shown a leak.", rate.trials)
    if rate.trials:
        told = "The largest share of leaks among such answers that these speak for, at 95 % confidence; from 0 to 1."
        board.tell("leak_rate_upper_bound", told, rate.upper_bound)
    board.tell(
        "verified_tokens", "The longest prompt up to which nothing but right answers came.", result.verified_tokens
    )
    if result.declared_context is not None:
        board.tell("context_tokens", "The context that the endpoint declares.", result.declared_context)
    board.tell("unasked", "Lengths that were left out when the run ended before its plan.", len(result.unasked))
    board.tell("requests", "Requests of the campaign.", result.requests)
    if result.spent:
        told = "Tokens spent; the most that it can have been where the endpoint does not say."
        board.tell("tokens", told, result.spent.prompt_tokens, kind="prompt")
        board.tell("tokens", told, result.spent.answer_tokens, kind="answer")
        if result.spent.usd is not None:
            board.tell("cost_usd", "What that cost in US dollars, at the prices that were given.", result.spent.usd)
    board.tell("run_seconds", "How long this run took.", run.took_s)
    told = "When this run ended, in seconds since 1970; a run that no longer happens is seen by it."
    board.tell("last_run_timestamp_seconds", told, run.at.timestamp())
    return generate_latest(board.registry).decode()


def _answers(result: ProbeResult) -> Counter[tuple[str, int, str]]:
    counts: Counter[tuple[str, int, str]] = Counter()
    for row in result.lengths:
        for kind, count in row.answers or ((row.verdict, 1),):
            counts[row.scenario, row.tokens, kind.value] += count
    return counts


class _Board:
    """Gauges by name, each with the endpoint and the model."""

    def __init__(self, result: ProbeResult) -> None:
        self.registry = CollectorRegistry()
        self._of = {"endpoint": result.url, "model": result.model}
        self._gauges: dict[str, Gauge] = {}

    def tell(self, name: str, told: str, value: float, **labels: str) -> None:
        """One sample; `told` is the help of its metric."""
        if name not in self._gauges:
            names = [*self._of, *labels]
            self._gauges[name] = Gauge(f"kvfence_probe_{name}", told, names, registry=self.registry)
        self._gauges[name].labels(**self._of, **labels).set(value)
