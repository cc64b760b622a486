# expected: Argument 4 to "Leases" has incompatible type "tuple[PageId]"; expected "tuple[Epoch, ...]"
from kvfence.core.ids import PageId, RoomId, TenantId
from kvfence.core.lease import Leases

HELD = Leases(RoomId(1), TenantId("A"), (PageId(0),), (PageId(0),))
