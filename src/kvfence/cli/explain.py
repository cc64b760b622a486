"""`kvfence explain`: a rule's page on the terminal. Options only."""

from __future__ import annotations

from typing import Annotated

import typer

from kvfence.cli.output import people_console


def explain(
    rule: Annotated[
        str | None, typer.Argument(help="A rule's code or id, or an advisory's id; without it, all rules are listed.")
    ] = None,
) -> None:
    """What a rule or a probe's finding says, why it matters, how bad it is, and what to do.

    Example: kvfence explain KVF101
    """
    from kvfence.audit.catalogue import card_of, cards  # noqa: PLC0415 — no other command pays for loading it
    from kvfence.report.rules_terminal import print_rule, print_rules  # noqa: PLC0415 — the same

    console = people_console(machine_on_stdout=False)
    if rule is None:
        print_rules(cards(), console)
    else:
        print_rule(card_of(rule), console)
