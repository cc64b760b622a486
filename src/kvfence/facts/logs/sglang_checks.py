"""What a start of SGLang printed of its two content checks: whether they are on, and what shows that they run.

The canary prints `install_canary:` when it is put on the pool, which is before the headline in every version that has
it (0.5.13 to 0.5.23), and `[canary] step=` every 100 steps. So a log that has the settings and then the headline, and
no such line between them, is of a server whose canary was not installed. The checksum prints nothing when it starts and
nothing when it agrees: only a mismatch shows that it compares.
"""

from __future__ import annotations

from kvfence.facts.fact import Fact
from kvfence.facts.logs.evidence import Heard, first_of
from kvfence.facts.logs.sglang_settings import missing, setting
from kvfence.facts.logs.sglang_versions import CHECKSUM


def resolve_checks(heard: Heard) -> dict[str, Fact | None]:
    """The facts by name."""
    canary, checksum = _canary(heard), first_of(setting(heard, CHECKSUM), missing(heard, CHECKSUM, value=False))
    step = heard.last("canary.step")
    return {
        "kv_canary": canary,
        "kv_checksum": checksum,
        "checks": checks_on(canary, checksum),
        "canary_installed": heard.last("canary.line") or _not_installed(heard),
        "canary_ran": first_of(Fact(value=True, seen=step.seen) if step else None, heard.last("canary.ran")),
        "canary_protected_tokens": heard.last("canary.protected"),
        "checksum_compared": heard.last("checksum.compared"),
    }


def checks_on(canary: Fact | None, checksum: Fact | None) -> Fact | None:
    """The checks that are on, as a comma list, or `none`; known only when both are."""
    if canary is None or checksum is None:
        return None
    on = [f"kv-canary={canary.value}"] * (canary.value != "none") + ["kv-checksum"] * (checksum.value is True)
    return Fact(",".join(on) or "none", checksum.seen if checksum.value else canary.seen)


def _canary(heard: Heard) -> Fact | None:
    """`none`, `log` or `raise`. A whole dump without the setting is a version that has no canary."""
    return first_of(setting(heard, "kv_canary"), missing(heard, "kv_canary", "none"))


def _not_installed(heard: Heard) -> Fact | None:
    """The settings ask for it, the server has gone on to its pool, and it never said so."""
    asked, reached = heard.last("set.kv_canary"), heard.last("headline.pool")
    if not asked or asked.value == "none" or not reached or heard.has("canary.step") or heard.has("canary.ran"):
        return None
    return Fact(value=False, seen=reached.seen)
