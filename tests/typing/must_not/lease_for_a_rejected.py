# expected: Argument 2 to "lease" has incompatible type "Rejected"; expected "Admitted"
from kvfence.core.admission import Rejected
from kvfence.core.ids import RoomId, TenantId
from kvfence.core.lease import Leases
from kvfence.core.pool import Pool, lease


def leased(pool: Pool, refusal: Rejected) -> tuple[Pool, Leases]:
    return lease(pool, refusal, RoomId(1), TenantId("A"), 1)
