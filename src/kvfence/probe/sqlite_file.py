"""Opening the SQLite files of the probe: only for their owner's eyes, and one clear line where it cannot be."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from kvfence.errors import TargetError, UsageError

BUSY_S = 30.0
"""How long to wait for another kvfence that writes to the same file."""


def open_file(path: Path, *, application: int, schema: str, what: str) -> sqlite3.Connection:
    """The file, made if it is not there, readable by nobody else.

    Args:
        path: Where it is.
        application: The number that marks a file of this kind (SQLite's `application_id`).
        schema: What makes an empty file one of this kind; statements that may be run again.
        what: What the file is, for an error.

    Raises:
        UsageError: it is something else.
        TargetError: it cannot be opened or written.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise TargetError(f"{path}: cannot be opened as {what}: {error}; name another file") from error
    try:
        is_ours = _is_empty_or(application, connection)
        if is_ours:
            connection.execute(f"PRAGMA application_id = {application:d}")
            connection.executescript(schema)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise UsageError(f"{path} is not {what}: {error}; name another file") from error
    if not is_ours:
        connection.close()
        raise UsageError(f"{path} is a database, and not {what}; name another file")
    return connection


def _is_empty_or(application: int, connection: sqlite3.Connection) -> bool:
    (marked,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables or marked == application
