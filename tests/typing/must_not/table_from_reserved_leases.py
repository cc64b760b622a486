# expected: Argument 1 to "page_table" has incompatible type "Leases"; expected "Seal"
from kvfence.core.decode_side import Reserved
from kvfence.core.page_table import PageTable, page_table
from kvfence.core.pool import Pool


def table(reserved: Reserved, pool: Pool) -> PageTable:
    return page_table(reserved.prompt, reserved.answer, pool)
