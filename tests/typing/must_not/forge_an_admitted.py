# expected: Argument 3 to "Admitted" has incompatible type "object"; expected "_Key"
from kvfence.core.admission import Admitted

ADMITTED = Admitted(8, 2, object())
