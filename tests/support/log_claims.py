"""What must hold of any line of a log, however it was changed: the claims that the suite and `make fuzz` share."""

from __future__ import annotations

import io
import random

from kvfence.facts.fact import FACT_NAMES
from kvfence.facts.read_log import read_log, understood
from kvfence.facts.wrapping import unwrap
from support.audit_logs import CELL_START, INCIDENT, LOGS, WRAPPINGS, body
from support.mutants import invented, mutant

LINE_CHARS_MAX = 4000
"""A dump of settings is cut here, so that a million cases stay a matter of minutes."""
SAYING = sorted(
    {
        line[:LINE_CHARS_MAX]
        for log in [*LOGS, *sorted(INCIDENT.glob("*.log"))]
        for line in body(log).decode("utf-8", "replace").splitlines()
        if understood(unwrap((line.encode(),)).text)
    }
    | {CELL_START.format(role="decode", rules="fenced", pool=4096, checks="I1")}
)


def a_changed_line_invents_nothing(rng: random.Random) -> None:
    """A changed line, wrapped as any collector wraps it, is read without an error and gives no number it has not."""
    changed = mutant(rng, SAYING)
    wrapping = rng.choice(WRAPPINGS)
    text = wrapping.wrap(changed.text) + rng.choice(("\n", "\n", ""))
    read = read_log(io.BytesIO(text.encode("utf-8", "surrogatepass")), file="f", fallback_name="n")
    for node in read.nodes:
        assert node.facts.keys() <= set(FACT_NAMES)
        assert all(fact.seen.line and len(fact.seen.text) < 400 for fact in node.facts.values())
        assert invented(node, changed.text) == [], f"{changed.done}, {wrapping.name}: {changed.text[:500]!r}"
