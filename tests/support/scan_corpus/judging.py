"""What a scan's report said of a corpus, held against what is known of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from support.scan_corpus.plan import Kind, Truth

RUN_BYTES = 64
"""A run that is so long and that the victim alone has must be found."""
OTHER = "nothing is known of it"


@dataclass(frozen=True, slots=True)
class Judged:
    """Leaks that were found or not, and matches that are none."""

    leaks: tuple[tuple[Truth, bool], ...]
    right: int
    """Matches of an answer with the tenant whose text was put into it."""
    wrong: tuple[tuple[str, Mapping[str, Any]], ...]
    """The others: what is known of the answer, and the match."""

    @property
    def promised(self) -> list[tuple[Truth, bool]]:
        """Those that may not be missed."""
        return [(leak, is_found) for leak, is_found in self.leaks if is_promised(leak)]

    @property
    def missed(self) -> list[Truth]:
        """Of the promised ones."""
        return [leak for leak, is_found in self.promised if not is_found]

    @property
    def precision(self) -> float:
        """The share of matches that are right, less those of which no log can tell that they are wrong."""
        wrong = sum(count for kind, count in self.wrong_by_kind().items() if kind != Kind.RECITED_RARE)
        return self.right / max(1, self.right + wrong)

    def wrong_by_kind(self) -> Counter[str]:
        """How many wrong ones there are of each kind."""
        return Counter(kind for kind, _ in self.wrong)


def is_promised(leak: Truth) -> bool:
    """Whether an exact search must find it."""
    return leak.across_tenants and leak.run_bytes >= RUN_BYTES


def judged(known: Iterable[Truth], matches: Iterable[Mapping[str, Any]]) -> Judged:
    """Match by match, and leak by leak. A match is right where it names the answer and the tenant."""
    kinds: dict[str, list[Truth]] = defaultdict(list)
    for one in known:
        kinds[one.response_id].append(one)
    pairs = set()
    right, wrong = 0, []
    for match in matches:
        pair = (match["response_id"], match["source"]["tenant"])
        pairs.add(pair)
        leaks = [one for one in kinds[pair[0]] if one.kind is Kind.LEAK]
        if any(leak.source_tenant == pair[1] for leak in leaks):
            right += 1
        else:
            innocent = [str(one.kind) for one in kinds[pair[0]] if one.kind is not Kind.LEAK]
            wrong.append((innocent[0] if innocent else OTHER, match))
    all_leaks = [one for some in kinds.values() for one in some if one.kind is Kind.LEAK]
    return Judged(
        tuple((leak, (leak.response_id, leak.source_tenant) in pairs) for leak in all_leaks), right, tuple(wrong)
    )
