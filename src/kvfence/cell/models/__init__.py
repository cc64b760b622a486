"""Models whose keys and values live in the paged pool."""
