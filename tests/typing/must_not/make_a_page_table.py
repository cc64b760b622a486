# expected: Missing positional argument "key" in call to "PageTable"
from kvfence.core.ids import PageId
from kvfence.core.page_table import PageTable

TABLE = PageTable((PageId(0), PageId(1)), 8)
