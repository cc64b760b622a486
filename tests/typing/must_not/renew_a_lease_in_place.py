# expected: Property "epochs" defined in "Leases" is read-only
from kvfence.core.ids import Epoch
from kvfence.core.lease import Leases


def renew(held: Leases) -> None:
    held.epochs = (Epoch(9),)
