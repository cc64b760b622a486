"""An audit as one HTML file for whoever decides: each node's pool against its context, findings, what was not seen.

The file asks nothing of any other place, and its policy forbids that too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kvfence.findings.deployment import AuditResult, FactValue, Node
from kvfence.findings.finding import Finding, Severity
from kvfence.findings.level import Level, level_of
from kvfence.findings.verdict import Verdict
from kvfence.report.html_page import render_page
from kvfence.report.run import Run
from kvfence.report.verdict_words import by_severity, clean_words
from kvfence.report.worst_first import has_gap, nodes_worst_first, worst_of

BAR_PX = 600
"""How wide the longest bar is drawn."""
_FACTS = ("engine", "engine_version", "role", "page_size", "kv_dtype", "tp_size", "quantization", "checks")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePicture:
    """One node, measured for drawing: widths in pixels of a bar of `BAR_PX`; none where a size is not known."""

    name: str
    pool_tokens: int | None
    context_tokens: int | None
    usable_tokens: int | None
    pool_px: float
    context_px: float
    usable_px: float
    worst: Severity | None
    level: Level | None
    unseen: bool
    said: str
    facts: tuple[tuple[str, FactValue], ...]


def document(result: AuditResult, run: Run) -> str:
    """The page as text; the texts of the audit must be plain."""
    return render_page(
        "audit.html",
        run=run,
        result=result,
        bar_px=BAR_PX,
        summary=tuple(_summary(result)),
        nodes=[_picture(result, node) for node in nodes_worst_first(result)],
        fixes=_fixes(result),
        level_of=level_of,
        code_of=result.code_of,
        cards={card.id: card for card in result.rules},
    )


def _summary(result: AuditResult) -> Iterator[str]:
    """The first lines, for a reader who reads no others."""
    match result.verdict:
        case Verdict.FOUND:
            yield f"Found: {by_severity(result)}."
        case Verdict.UNKNOWN:
            yield "Inconclusive: nothing was found, and not all of it could be looked at."
        case Verdict.CLEAN:
            yield clean_words(result)
    sizes = [(node.facts.get("pool_tokens"), node.facts.get("context_length")) for node in result.nodes]
    known = [(pool, context) for pool, context in sizes if isinstance(pool, int) and isinstance(context, int)]
    short = sum(pool < context for pool, context in known)
    if known:
        verb = "holds" if short == 1 else "hold"
        yield f"{short} of {len(known)} nodes whose sizes are known {verb} fewer tokens than promised."
    decisive = sum(gap.decisive for gap in result.not_checked)
    if decisive:
        yield f"{decisive} thing{'s' * (decisive != 1)} that could have been a finding could not be looked at."


def _fixes(result: AuditResult) -> list[tuple[str, list[Finding]]]:
    """What to do, each once, in the order of the worst that it ends."""
    by_fix: dict[str, list[Finding]] = {}
    for finding in sorted(result.findings, key=lambda one: tuple(Severity).index(one.severity)):
        by_fix.setdefault(finding.fix, []).append(finding)
    return list(by_fix.items())


def _picture(result: AuditResult, node: Node) -> NodePicture:
    pool, context = _tokens(node, "pool_tokens"), _tokens(node, "context_length")
    usable = _tokens(node, "usable_length")
    longest = max(pool or 0, context or 0, usable or 0, 1)
    worst = worst_of(result, node)
    return NodePicture(
        name=node.name,
        pool_tokens=pool,
        context_tokens=context,
        usable_tokens=usable,
        pool_px=_px(pool, longest),
        context_px=_px(context, longest),
        usable_px=_px(usable, longest),
        worst=worst,
        level=level_of(worst) if worst else None,
        unseen=has_gap(result, node),
        said=_said(pool, context),
        facts=tuple((name, node.facts.get(name)) for name in _FACTS if node.facts.get(name) is not None),
    )


def _said(pool: int | None, context: int | None) -> str:
    if pool is None or context is None:
        missing = [word for word, size in (("pool", pool), ("context", context)) if size is None]
        return f"The {' and the '.join(missing)} could not be read, so there is nothing to compare."
    if pool >= context:
        return f"The pool holds {pool:,} tokens, enough for the {context:,} that are promised."
    short = f"{context - pool:,} ({100 * (context - pool) / context:.0f} %) short"
    return f"The pool holds {pool:,} tokens of the {context:,} that are promised: {short}."


def _tokens(node: Node, name: str) -> int | None:
    value = node.facts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _px(tokens: int | None, longest: int) -> float:
    return round(BAR_PX * (tokens or 0) / longest, 1)
