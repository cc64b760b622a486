"""A small JSON object to be given back exactly. vllm #50702 corrupted 13.3 % of such, #56009 gave another value.

First a few alone: a model that fails at those shows nothing here. Then all tenants at once at the same everyday length,
with a prefix of their own and with a shared one in turn. Where one of them was wrong, as many more are asked for: wrong
once is chance, twice counts. But then as many again are asked for alone, and only if all of those are right it was the
server, and not a model that fails now and then.
"""

from __future__ import annotations

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import Sweep, everyday
from kvfence.probe.json_control import ALONE, can_tell, json_verdicts
from kvfence.probe.prompts import Ask, Form, Prefix
from kvfence.probe.record import Round, Scenario, Seen, Step, rounds_made
from kvfence.probe.rows import COUNTS_WHEN_SEEN
from kvfence.probe.target import Bounds

AT_ONCE = "a JSON object, all at once"
CONTROLS = 4
ECHOES = 16
"""At one in eight wrong, which is less than was reported, two are seen in 16 in six cases of ten, in 32 in nine."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen, sweep: Sweep) -> Round:
    """A few alone; then rounds of all at once; where those were wrong, more alone."""
    if not can_tell(seen):
        return ()
    made = rounds_made(seen, Scenario.JSON_ECHO)
    tokens = min(everyday(sweep), campaign.declared_context - campaign.answer_tokens_for(Ask.JSON))
    alone, at_once = (json_verdicts(seen, why) for why in (ALONE, AT_ONCE))
    wrong = sum(verdict not in (LengthVerdict.CLEAN, LengthVerdict.LEAK) for verdict in at_once)
    if len(alone) >= CONTROLS and len(at_once) < (2 if wrong == 1 else 1) * ECHOES:
        prefix = (Prefix.UNIQUE, Prefix.SHARED)[made % 2]
        tenants = campaign.in_turn(bounds.concurrency)
        return tuple(_step(tenant, tokens, made, why=AT_ONCE, prefix=prefix) for tenant in tenants)
    if len(alone) < CONTROLS + (len(at_once) if wrong >= COUNTS_WHEN_SEEN else 0):
        return (_step(campaign.harvester, tokens, made, why=ALONE),)
    return ()


def _step(tenant: str, tokens: int, number: int, *, why: str, prefix: Prefix = Prefix.UNIQUE) -> Step:
    return Step(
        part="harvest",
        tenant=tenant,
        tokens=tokens,
        why=why,
        scenario=Scenario.JSON_ECHO,
        round_number=number,
        form=Form(prefix=prefix, ask=Ask.JSON),
    )
