# expected: Missing positional argument "key" in call to "Seal"
from kvfence.core.lease import Leases
from kvfence.core.page_table import Seal


def sealed(held: Leases) -> Seal:
    return Seal(held, 8, frozenset())
