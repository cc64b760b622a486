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


def why_unreached(error: BaseException) -> str:
    """Why there is no connection, by the first cause that the system gave; each asks for another thing to be done."""
    import socket  # noqa: PLC0415 — most runs open no connection
    import ssl  # noqa: PLC0415 — the same

    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case ssl.SSLCertVerificationError():
                return "its certificate is not trusted here"
            case ssl.SSLError():
                return "no connection over TLS; is it http:// there?"
            case socket.gaierror():
                return "no connection, since the name is not known here; is it spelt right?"
            case ConnectionRefusedError():
                return "no connection, since nothing listens there; is it up, and the port right?"
            case _:
                cause = cause.__cause__ or cause.__context__
    return "no connection; is it up, and the address right?"
