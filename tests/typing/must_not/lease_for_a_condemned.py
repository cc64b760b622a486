# expected: Argument 2 to "lease" has incompatible type "Condemned"; expected "Admitted"
from kvfence.core.admission import Condemned
from kvfence.core.ids import RoomId, TenantId
from kvfence.core.lease import Leases
from kvfence.core.pool import Pool, lease


def leased(pool: Pool, condemned: Condemned) -> tuple[Pool, Leases]:
    return lease(pool, condemned, RoomId(1), TenantId("A"), 1)
