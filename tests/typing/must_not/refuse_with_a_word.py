# expected: Argument "refusal" to "RequestRefused" has incompatible type "str"; expected "Rejected"
from kvfence.core.events import RequestRefused
from kvfence.core.ids import RoomId

EVENT = RequestRefused(room=RoomId(1), refusal="length")
