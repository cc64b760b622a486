"""Every sign there is, by its name."""

from __future__ import annotations

from kvfence.scan.signs.past_limit import PastLimit
from kvfence.scan.signs.stranger_paths import stranger_paths
from kvfence.scan.signs.told import Look
from kvfence.scan.signs.usage_disagrees import usage_disagrees


def looks(limit: int | None) -> dict[str, Look]:
    """Those that can be looked for; without a limit, none can be passed."""
    found: dict[str, Look] = {"usage-disagrees": usage_disagrees, "stranger-paths": stranger_paths}
    return found if limit is None else {"past-limit": PastLimit(limit), **found}
