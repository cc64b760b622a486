"""Rules over facts: what is wrong with this deployment, why, and the one change that ends it."""

from kvfence.audit.inspection import inspect

__all__ = ["inspect"]
