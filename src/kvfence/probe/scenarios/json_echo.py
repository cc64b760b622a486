"""A small JSON object to be given back exactly. vllm #50702 corrupted 13.3 % of such, #56009 gave another value.

First a few short ones, each alone: a model that fails at those shows nothing here. Then all tenants at once at an
everyday length, with a prefix of their own and with a shared one in turn. Where one of them was wrong, as many more are
asked for: wrong once is chance, twice counts.
"""

from __future__ import annotations

from itertools import cycle, islice

from kvfence.findings.recall import LengthVerdict
from kvfence.probe.campaign import Campaign
from kvfence.probe.edges import everyday
from kvfence.probe.json_control import CONTROL, can_tell
from kvfence.probe.prompts import Ask, Form, Prefix, answer_tokens
from kvfence.probe.record import Round, Scenario, Seen, Step, of_scenario, rounds_made
from kvfence.probe.target import Bounds
from kvfence.probe.verdict import control_failed, harvests

AT_ONCE = "a JSON object, all at once"
CONTROLS = 4
ECHOES = 16
"""At one in eight wrong, which is less than was reported, two are seen in 16 in six cases of ten, in 32 in nine."""


def next_round(campaign: Campaign, bounds: Bounds, seen: Seen) -> Round:
    """A control; then rounds of all at once."""
    if control_failed(harvests(seen)):
        return ()
    made = rounds_made(seen, Scenario.JSON_ECHO)
    if made < CONTROLS:
        return (_step(campaign, harvests(seen)[0].tokens, made, why=CONTROL),)
    if not can_tell(seen):
        return ()
    answered = [one.result.verdict for one in of_scenario(seen, Scenario.JSON_ECHO) if one.result.why == AT_ONCE]
    wrong = sum(verdict is not LengthVerdict.CLEAN for verdict in answered)
    if len(answered) >= (2 if wrong == 1 else 1) * ECHOES:
        return ()
    tokens = min(everyday(seen), campaign.declared_context - answer_tokens(campaign.depths, Ask.JSON))
    prefix = (Prefix.UNIQUE, Prefix.SHARED)[made % 2]
    tenants = islice(cycle((campaign.harvester, *campaign.seeders)), bounds.concurrency)
    return tuple(_step(campaign, tokens, made, why=AT_ONCE, prefix=prefix, tenant=tenant) for tenant in tenants)


def _step(
    campaign: Campaign, tokens: int, number: int, *, why: str, prefix: Prefix = Prefix.UNIQUE, tenant: str | None = None
) -> Step:
    return Step(
        part="harvest",
        tenant=tenant or campaign.harvester,
        tokens=tokens,
        why=why,
        scenario=Scenario.JSON_ECHO,
        round_number=number,
        form=Form(prefix=prefix, ask=Ask.JSON),
    )
