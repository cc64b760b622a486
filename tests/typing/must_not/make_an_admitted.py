# expected: Missing positional argument "key" in call to "Admitted"
from kvfence.core.admission import Admitted

ADMITTED = Admitted(8, 2)
