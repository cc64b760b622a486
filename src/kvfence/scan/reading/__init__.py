"""From what the user named to batches of exchanges: opening, unpacking, cutting into records. No log format lives here.

Memory is bounded whatever a file holds: a record has `record.BYTES_MAX` at most, a batch `batches.TEXT_BYTES`.
"""
