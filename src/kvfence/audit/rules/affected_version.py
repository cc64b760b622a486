"""A worker of a disaggregated pair runs a release with a known fault that mixes requests' KV.

## What it says

The node's version lies in the range of an advisory of `src/kvfence/audit/advisories`: OSV records on SGLang and vLLM,
each with its public reports. The finding names every advisory that is the node's, and the release that ends it where
one is known.

## Why it matters

The incident's own fault is one of them: SGLang before 0.5.20 lets a refused prompt run on as one token. A wider race
on the same path lasts until 0.5.22. And no release up to 0.5.23 makes decode compare what arrived with what it
reserved.

## How bad

As the record says for the role: the incident's fault is critical on prefill, the race high on both, the missing
comparison low on decode, and only where no check is on that covers it. One server for both roles has none of them.

The confidence is high where the version itself was read and lies among those that were read or run for the advisory,
medium where the log only bounds it (SGLang does not print its version) or the release is another one.

Where the bounds leave it open the rule says so, and does not pass. Where they contradict each other (lines of two
releases in one log, a fork with changes of a later release), no range is told: the rule names both lines, and takes the
version as not known. Three faults of vLLM hang on more than the version:

| record | needs | where that is shown |
| --- | --- | --- |
| x_KVFENCE-2026-0004 | KV of several kinds | lines of the log on Mamba's blocks; without them nothing is shown |
| x_KVFENCE-2026-0005 | a hold longer than prefill's lease | nowhere; once it happened, `expired-blocks-read` has it |
| x_KVFENCE-2026-0006 | `bidirectional_kv_xfer` | settings of the KV transfer in a log or a launch command, either way |

Where that is shown, the record is a finding, or is not the node's. Where it is not, the record is told as not checked
and leaves nothing open: no version ends these faults, so every vLLM pair over NIXL would be inconclusive for ever, and
nothing that one could do about the version would change it.

With `--source` the code that runs is asked as well. Where it has the fix (a backport), the version alone makes no
finding, and the report says which line of the tree that rests on. Where it lacks the fix, the finding says both, and a
version that is not known leaves nothing open. A tree that calls itself another version than the node's is not what the
node runs: it decides nothing here. What stays with the version all the same: x_KVFENCE-2026-0002, which is ended by
more than a tree is asked for, and x_KVFENCE-2026-0004 and 0006, of which nothing is asked.

## What ends it

The release that is named, on every worker of the pair; where none is, the check that covers it, or what its record
advises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvfence.audit.advisory import Advisory, Hit, Open
from kvfence.audit.deployment import Deployment, engine_of
from kvfence.audit.in_tree import Ended, judged, may_run
from kvfence.audit.source_of import source_of
from kvfence.audit.whence import version_from
from kvfence.facts.fact import Engine, NodeFacts
from kvfence.facts.known_version import Contradiction, Unplaced, is_older, known_version
from kvfence.findings.deployment import NotChecked
from kvfence.findings.finding import Confidence, Finding, Severity
from kvfence.findings.source_tree import FixVerdict, SourceTree

ID = "affected-version"
CODE = "KVF302"
_NAMES = {Engine.SGLANG: "SGLang", Engine.VLLM: "vLLM"}
_WORST_FIRST = tuple(Severity)
_HOW_UNPLACED = "give the package that runs with --source: its fixes are then told from its code"
_CONTRADICTED = "no range of versions is told, since its log contradicts itself"
_OF_TWO = (
    "it holds lines of two releases, or its build has changes of a later one; give the log of one start alone, or the "
    "package that runs with --source"
)
_DECIDES = ("engine_version", "engine_version_max", "engine_version_min", "role", "checks", "hybrid_kv", "kv_two_ways")
_COVER = {Engine.SGLANG: "set --disaggregation-enable-kv-checksum on prefill and on decode"}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for each node with an advisory of its own."""
    for node in deployment.nodes:
        hits = [found for found in judged(node, deployment.trees) if isinstance(found, Hit)]
        if hits:
            yield _finding(node, sorted(hits, key=lambda hit: _WORST_FIRST.index(hit.severity)))


def gaps(deployment: Deployment) -> Iterator[NotChecked]:
    """What could not be told of a node, for want of its version or of what else a record needs; what its code ends."""
    for node in deployment.nodes:
        all_of_it = list(judged(node, deployment.trees))
        found = [one for one in all_of_it if isinstance(one, Open)]
        for ended in (one for one in all_of_it if isinstance(one, Ended)):
            yield NotChecked(node.name, _ended(node, ended), decisive=False, rules=(ID,))
        for tree in _of_others(node, deployment.trees) if all_of_it else ():
            why = (
                f"the tree {tree.name} calls itself {tree.version_said}, and this worker runs {_version(node)}: "
                "what is in that tree was not held against its advisories"
            )
            yield NotChecked(node.name, why, decisive=False, rules=(ID,))
        if isinstance(version := known_version(node.facts), Contradiction):
            yield NotChecked(node.name, f"{_CONTRADICTED}: {version.told}; {_OF_TWO}", decisive=False, rules=(ID,))
        for decisive in (True, False):
            left = [one for one in found if one.decisive is decisive]
            if left:
                yield NotChecked(node.name, _why(node, left), decisive=decisive, rules=(ID,))


def _finding(node: NodeFacts, hits: Sequence[Hit]) -> Finding:
    worst = [hit for hit in hits if hit.severity is hits[0].severity]
    return Finding(
        rule=ID,
        severity=hits[0].severity,
        confidence=Confidence.HIGH if all(hit.confidence is Confidence.HIGH for hit in worst) else Confidence.MEDIUM,
        node=node.name,
        message=f"This {node.text('role')} worker runs {_version(node)}. {' '.join(_told(hit) for hit in hits)}",
        evidence=(
            *node.evidence(*_DECIDES),
            *dict.fromkeys(verdict.seen for hit in hits for verdict in hit.lacks if verdict.seen),
        ),
        fix=_fix(node, [hit.advisory for hit in hits]),
    )


def _version(node: NodeFacts) -> str:
    engine = engine_of(node)
    return f"{_NAMES[engine] if engine else 'an engine'} {known_version(node.facts)}"


def _told(hit: Hit) -> str:
    ends = f"fixed in {hit.advisory.fixed}" if hit.advisory.fixed else "no release known that fixes it"
    return f"{hit.advisory.id}, {hit.severity}: {hit.advisory.summary} ({ends}{_lacking(hit)})."


def _lacking(found: Hit | Open) -> str:
    if found.tree is None:
        return ""
    return f"; the tree {found.tree.name} lacks {', '.join(verdict.fix for verdict in found.lacks)} too"


def _ended(node: NodeFacts, ended: Ended) -> str:
    fixes = ", ".join(f"{verdict.fix} ({_place(verdict)})" for verdict in ended.by)
    return (
        f"{ended.advisory.id} is not reported by its version, {_version(node)}: the tree {ended.tree.name} has "
        f"{fixes}; that it runs this tree is taken on your word"
    )


def _place(verdict: FixVerdict) -> str:
    return f"{verdict.seen.file}:{verdict.seen.line}" if verdict.seen else verdict.reason


def _of_others(node: NodeFacts, trees: Sequence[SourceTree]) -> Iterator[SourceTree]:
    """Trees of its engine that cannot be what it runs."""
    engine = engine_of(node)
    return (tree for tree in trees if engine and tree.engine == engine.value and not may_run(tree, node))


def _fix(node: NodeFacts, found: Sequence[Advisory]) -> str:
    engine = engine_of(node)
    release = ""
    for fixed in (advisory.fixed for advisory in found if advisory.fixed):
        release = fixed if not release or is_older(release, fixed) else release
    advised = [(one.id, one.database_specific.advice) for one in found if one.database_specific.advice]
    unfixed = [one.id for one in found if not one.fixed and not one.database_specific.advice]
    name = _NAMES[engine] if engine else ""
    upgrade = f"Run {name} {release} or later on every prefill and decode worker." if release else ""
    cover = _COVER.get(engine, "keep to what its references advise") if engine else ""
    rest = f"Against {', '.join(unfixed)}, {cover}." if unfixed else ""
    against = " ".join(f"Against {name}, {advice}." for name, advice in advised)
    return " ".join(part for part in (upgrade, rest, against) if part)


def _why(node: NodeFacts, left: Sequence[Open]) -> str:
    source = source_of(node)
    told = "; ".join(f"{one.advisory.id} hangs on {one.missing}{_lacking(one)}" for one in left)
    match known_version(node.facts):
        case _ if not left[0].decisive:
            return f"{told}, which is not in {source}"
        case Unplaced() as version:
            return f"{told}, and {version}, is what {source} says; {_HOW_UNPLACED}"
        case Contradiction():
            return f"{told}, which {source} does not settle; {version_from(node)}"
        case _:
            return f"{told}, which is not in {source}; {version_from(node)}"
