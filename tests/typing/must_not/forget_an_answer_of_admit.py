# expected: to "assert_never" has incompatible type "Wait"; expected "Never"
from typing import assert_never

from kvfence.core.admission import Admitted, Condemned, Rejected, Wait


def status(decision: Admitted | Condemned | Wait | Rejected) -> int:
    match decision:
        case Admitted():
            return 200
        case Rejected() | Condemned():
            return 400
        case other:
            assert_never(other)
