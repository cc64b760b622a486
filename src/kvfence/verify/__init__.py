"""Every interleaving of the handoff within bounds, or the shortest way to a broken promise.

An explicit-state model checker over `core`: the very machines that the cell runs, and around them a world that may do
whatever a network, a client or a crash can do. Start with `world.py` (what a state is) and `moves.py` (what can
happen next); `properties.py` says what must hold.
"""
