# expected: Argument "table" to "StartDecoding" has incompatible type "Manifest"; expected "PageTable"
from kvfence.core.actions import StartDecoding
from kvfence.core.ids import RoomId
from kvfence.core.manifest import Manifest


def start(manifest: Manifest) -> StartDecoding:
    return StartDecoding(room=RoomId(1), table=manifest, max_new_tokens=1, cached_tokens=0)
