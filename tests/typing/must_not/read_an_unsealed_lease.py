# expected: Argument "table" to "StartDecoding" has incompatible type "Leases"; expected "PageTable"
from kvfence.core.actions import StartDecoding
from kvfence.core.ids import RoomId
from kvfence.core.lease import Leases


def start(held: Leases) -> StartDecoding:
    return StartDecoding(room=RoomId(1), table=held, max_new_tokens=1, cached_tokens=0)
