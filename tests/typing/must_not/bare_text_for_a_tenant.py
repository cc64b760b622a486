# expected: Argument "tenant" to "RequestOffered" has incompatible type "str"; expected "TenantId"
from kvfence.core.events import RequestOffered
from kvfence.core.ids import RoomId

EVENT = RequestOffered(room=RoomId(1), tenant="A", prompt_tokens=1, max_new_tokens=1)
