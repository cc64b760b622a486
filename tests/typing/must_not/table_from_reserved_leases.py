# expected: Argument 1 to "page_table" has incompatible type "Leases"; expected "Seal"
from kvfence.core.decode_side import Reserved
from kvfence.core.page_table import PageTable, page_table


def table(reserved: Reserved) -> PageTable:
    return page_table(reserved.prompt, reserved.answer)
