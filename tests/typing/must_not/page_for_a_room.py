# expected: Argument "room" to "AbortReceived" has incompatible type "PageId"; expected "RoomId"
from kvfence.core.events import AbortReceived
from kvfence.core.ids import PageId

EVENT = AbortReceived(room=PageId(1))
