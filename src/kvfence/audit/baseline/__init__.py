"""A deployment's facts in a lock file, and what has moved in the wrong direction since."""

from kvfence.audit.baseline.gate import check, record

__all__ = ["check", "record"]
