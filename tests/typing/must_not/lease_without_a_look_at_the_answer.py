# expected: has incompatible type "Admitted | Condemned | Wait | Rejected"; expected "Admitted"
from kvfence.core.admission import Capacity, admit
from kvfence.core.ids import Role, RoomId, TenantId
from kvfence.core.lease import Leases
from kvfence.core.pool import Pool, lease
from kvfence.core.rules import FENCED


def leased(pool: Pool, capacity: Capacity) -> tuple[Pool, Leases]:
    decision = admit(8, capacity, pool.free_pages, gate=Role.DECODE, rules=FENCED)
    return lease(pool, decision, RoomId(1), TenantId("A"), 1)
