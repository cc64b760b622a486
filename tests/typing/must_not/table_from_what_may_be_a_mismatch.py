# expected: Argument 1 to "page_table" has incompatible type "Seal | Mismatch"; expected "Seal"
from kvfence.core.lease import Leases
from kvfence.core.manifest import Expectation, Manifest
from kvfence.core.page_table import PageTable, page_table, seal
from kvfence.core.pool import Pool
from kvfence.core.rules import FENCED


def table(manifest: Manifest, expected: Expectation, own: Leases, pool: Pool) -> PageTable:
    return page_table(seal(manifest, expected, None, FENCED), own, pool)
