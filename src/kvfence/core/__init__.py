"""The handoff as pure state machines: standard library only, no I/O, no clock, no threads, no tensors."""
