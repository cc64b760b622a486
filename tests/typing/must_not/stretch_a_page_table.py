# expected: Property "readable_tokens" defined in "PageTable" is read-only
from kvfence.core.page_table import PageTable


def stretch(table: PageTable) -> None:
    table.readable_tokens = 1_048_576
