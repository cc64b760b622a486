"""The handoff as pure state machines.

Everything that decides about pages, leases, admission and manifests stands here, once: the cell runs it, plugins run
it, a checker explores it. Frozen values in, frozen values out; no sockets, no clock, no threads, no tensors, nothing
outside the standard library. Start with `handoff.py`: it has the theory.
"""
