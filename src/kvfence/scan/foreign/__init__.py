"""Stretches of an answer that stand in somebody else's request and not in its own: exact, by hashes of windows."""
