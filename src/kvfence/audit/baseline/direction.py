"""The one table of what may not move which way since the baseline.

A fact that is not here decides nothing: it is told as what else changed, unless it is of a place rather than of a
deployment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from inspect import cleandoc
from types import ModuleType
from typing import assert_never

from kvfence.audit.baseline.rules import (
    checks_below_baseline,
    pool_below_baseline,
    promise_above_baseline,
    version_below_baseline,
)
from kvfence.facts.known_version import is_older
from kvfence.findings.deployment import FactValue
from kvfence.findings.finding import Severity
from kvfence.findings.rule_card import RuleCard


def _card(module: ModuleType) -> RuleCard:
    page = cleandoc(module.__doc__ or "")
    return RuleCard(id=module.ID, code=module.CODE, title=page.partition("\n")[0], page=page)


POOL, PROMISE, VERSION, CHECKS = GATE_RULES = tuple(
    _card(module)
    for module in (pool_below_baseline, promise_above_baseline, version_below_baseline, checks_below_baseline)
)
SEVERITIES = {
    POOL.id: Severity.HIGH,
    PROMISE.id: Severity.MEDIUM,
    VERSION.id: Severity.MEDIUM,
    CHECKS.id: Severity.HIGH,
}


class Wrong(StrEnum):
    """Which way is the wrong one."""

    LESS = "less"
    """A size that shrank by more than the tolerance."""
    MORE = "more"
    """A size that grew at all."""
    OLDER = "older"
    """A version that comes before."""
    LOST = "lost"
    """A name of a comma list that is no longer in it; `none` is the empty list."""
    SWITCHED_OFF = "switched off"
    SWITCHED_ON = "switched on"


@dataclass(frozen=True, slots=True)
class Watched:
    """A fact, and which way it must not move."""

    fact: str
    wrong: Wrong
    rule: RuleCard


WATCHED = (
    Watched("pool_tokens", Wrong.LESS, POOL),
    Watched("usable_length", Wrong.LESS, POOL),
    Watched("max_req_input_len", Wrong.LESS, POOL),
    Watched("swa_pool_tokens", Wrong.LESS, POOL),
    Watched("mamba_pool_slots", Wrong.LESS, POOL),
    Watched("context_length", Wrong.MORE, PROMISE),
    Watched("engine_version", Wrong.OLDER, VERSION),
    Watched("checks", Wrong.LOST, CHECKS),
    Watched("kv_checksum", Wrong.SWITCHED_OFF, CHECKS),
    Watched("kv_canary", Wrong.SWITCHED_OFF, CHECKS),
    Watched("allow_auto_truncate", Wrong.SWITCHED_ON, CHECKS),
)
OF_A_PLACE = frozenset({"host", "port", "bootstrap_port", "device"})
"""Facts that differ between two places of one deployment, and stand in no lock file."""
OF_A_MOMENT = frozenset({"canary_ran", "canary_protected_tokens", "checksum_compared", "handoffs_checked"})
"""Facts that grow while a server runs; they stand in no lock file either."""
NOT_LOCKED = OF_A_PLACE | OF_A_MOMENT


def moved_wrong(wrong: Wrong, was: FactValue, now: FactValue, tolerance: float) -> bool:
    """Whether a fact has moved the wrong way; a value of another kind than the baseline's has not."""
    match was, now:
        case (bool(), bool()):
            return (wrong is Wrong.SWITCHED_OFF and was and not now) or (wrong is Wrong.SWITCHED_ON and now and not was)
        case (int(), int()):
            return (wrong is Wrong.LESS and now < was * (1 - tolerance)) or (wrong is Wrong.MORE and now > was)
        case (str(), str()):
            return _moved_wrong(wrong, was, now)
        case _:
            return False


def _moved_wrong(wrong: Wrong, was: str, now: str) -> bool:
    match wrong:
        case Wrong.OLDER:
            return is_older(now, was)
        case Wrong.LOST:
            return bool(_names(was) - _names(now))
        case Wrong.SWITCHED_OFF:
            return bool(_names(was)) and not _names(now)
        case Wrong.LESS | Wrong.MORE | Wrong.SWITCHED_ON:
            return False
        case _:
            assert_never(wrong)


def _names(text: str) -> set[str]:
    return {part.strip().partition("=")[0] for part in text.split(",")} - {"", "none"}
