# expected: "PagesDigested" has incompatible type "tuple[PrefixKey]"; expected "tuple[Digest, ...]"
from kvfence.core.events import PagesDigested
from kvfence.core.ids import PrefixKey, RoomId

EVENT = PagesDigested(room=RoomId(1), digests=(PrefixKey(bytes(16)),))
