"""One node against its baseline: what moved the wrong way, beside what else changed, and what is no longer seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kvfence.audit.baseline.direction import (
    GATE_RULES,
    NOT_LOCKED,
    POOL,
    SEVERITIES,
    WATCHED,
    Watched,
    Wrong,
    moved_wrong,
)
from kvfence.audit.baseline.lock import Lock, LockedNode
from kvfence.audit.deployment import grouped
from kvfence.audit.whence import facts_from
from kvfence.facts.fact import NodeFacts
from kvfence.findings.deployment import FactValue, Node, NotChecked
from kvfence.findings.finding import Confidence, Finding
from kvfence.findings.rule_card import RuleCard

_SIZES = ("pool_tokens", "context_length")
"""What a baseline must say of a node for the gate to hold anything of it."""
_WATCHED_NAMES = frozenset(watched.fact for watched in WATCHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A node of today and what the baseline says of it."""

    lock: Lock
    was: LockedNode
    node: NodeFacts
    shown: Node
    """The same node with its texts masked, as they stand in the lock file."""


def findings_of(pair: Pair, *, tolerance: float) -> Iterator[Finding]:
    """At most one finding a rule: all facts of it that moved the wrong way on this node."""
    was, now = pair.was.facts, pair.shown.facts
    for rule in GATE_RULES:
        moved = [one for one in WATCHED if one.rule is rule and _is_wrong(one, was, now, tolerance)]
        if moved:
            yield _finding(pair, rule, moved)


def gaps_of_pair(pair: Pair) -> Iterator[NotChecked]:
    """What the baseline holds of a node and today's targets do not say, or the other way round: it may have moved."""
    was, shown = pair.was, pair.shown
    unheld = [name for name in _SIZES if name not in was.facts and shown.facts.get(name) is not None]
    if unheld:
        values = " and ".join(f"{name} ({_value(shown.facts[name])} now)" for name in unheld)
        what = f"{pair.lock.file} does not say its {values}, so that was compared with nothing"
        yield NotChecked(shown.name, f"{what}; write it anew from a log that does")
    for rule in GATE_RULES:
        unseen = [
            one.fact
            for one in WATCHED
            if one.rule is rule and one.fact in was.facts and shown.facts.get(one.fact) is None
        ]
        if unseen:
            what = f"the baseline has its {', '.join(unseen)}, and what was read now does not"
            yield NotChecked(shown.name, f"{what}; {facts_from(pair.node, frozenset(unseen))}", rules=(rule.id,))


def _is_wrong(one: Watched, was: Mapping[str, FactValue], now: Mapping[str, FactValue], tolerance: float) -> bool:
    before, after = was.get(one.fact), now.get(one.fact)
    return moved_wrong(one.wrong, before, after, tolerance) or (one.fact == "pool_tokens" and _fell_below(was, now))


def _fell_below(was: Mapping[str, FactValue], now: Mapping[str, FactValue]) -> bool:
    """The pool held the context and no longer does; then the tolerance is no excuse."""
    sizes = [side.get(name) for side in (was, now) for name in ("pool_tokens", "context_length")]
    if not all(isinstance(size, int) for size in sizes):
        return False
    pool_then, context_then, pool_now, context_now = (int(size or 0) for size in sizes)
    return pool_then >= context_then and pool_now < context_now and pool_now < pool_then


def _finding(pair: Pair, rule: RuleCard, moved: list[Watched]) -> Finding:
    lock, was, node, shown = pair.lock, pair.was, pair.node, pair.shown
    names = [one.fact for one in moved]
    others = sorted(_changed(was, shown))
    told = "; ".join(_told(one, was.facts[one.fact], shown.facts[one.fact]) for one in moved)
    also = "; ".join(f"{name} {_value(was.facts.get(name))} → {_value(shown.facts.get(name))}" for name in others)
    context = shown.facts.get("context_length")
    if "pool_tokens" in names and _fell_below(was.facts, shown.facts) and isinstance(context, int):
        told += f"; it no longer holds its context of {grouped(context)}, which no tolerance excuses"
    compared = "" if was.name == shown.name else f" (compared with {was.name} of the baseline)"
    return Finding(
        rule=rule.id,
        severity=SEVERITIES[rule.id],
        confidence=Confidence.HIGH,
        node=shown.name,
        message=f"{told}{compared}. " + (f"Also changed: {also}." if also else "No other fact that is known changed."),
        evidence=(*node.evidence(*names), *(lock.evidence(was, name) for name in names), *node.evidence(*others)),
        fix=_fix(lock, rule, others),
    )


def _changed(was: LockedNode, shown: Node) -> Iterator[str]:
    """Other facts that are known on either side and differ."""
    for name in shown.facts.keys() | was.facts.keys():
        watched = name in _WATCHED_NAMES or name in NOT_LOCKED
        if not watched and was.facts.get(name) != shown.facts.get(name):
            yield name


def _told(one: Watched, was: FactValue, now: FactValue) -> str:
    share = ""
    if one.wrong is Wrong.LESS and isinstance(was, int) and isinstance(now, int) and was:
        share = f", {grouped(was - now)} ({100 * (was - now) / was:.1f} %) fewer"
    return f"{one.fact} is {_value(now)}, and {_value(was)} in the baseline{share}"


def _value(value: FactValue) -> str:
    match value:
        case None:
            return "not known"
        case bool():
            return "on" if value else "off"
        case int():
            return grouped(value)
        case str():
            return value


def _fix(lock: Lock, rule: RuleCard, others: list[str]) -> str:
    first = f"Undo what changed ({', '.join(others)})" if others else "Find out what changed"
    less = ", or promise no more than the pool holds" if rule is POOL else ""
    return f"{first}{less}; if it is meant, record it: kvfence gate --baseline {lock.file} --write TARGET…"
