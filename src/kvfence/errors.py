"""What can go wrong outside the handoff, told apart by what a caller can do about it.

Below every floor: any package but `core` may import this. `core` has its own `Violation`, because a broken
invariant is never the user's fault. The command line turns each of these into one line and an exit code.
"""


class KvfenceError(Exception):
    """The root: one line that says what was met, where, and what to do."""


class UsageError(KvfenceError):
    """The user asked for something that cannot be done as asked (exit 2)."""


class TargetError(KvfenceError):
    """A file, endpoint or process that was named could not be read or reached (exit 2)."""


class PeerError(KvfenceError):
    """The other side answered, and what it said is not what its protocol allows."""


class UnsupportedError(KvfenceError):
    """This build or machine lacks a part; the message names the extra that brings it (exit 2)."""
