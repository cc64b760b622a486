"""Opening the SQLite files of the probe: only for their owner's eyes, and one clear line where it cannot be.

What a file is stands in its first 100 bytes (https://www.sqlite.org/fileformat.html, section 1.3). They are read before
SQLite opens it for writing, so that a file of somebody else's is not touched: not even a journal of it is rolled back.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kvfence.errors import TargetError, UsageError

BUSY_S = 30.0
"""How long to wait for another kvfence that writes to the same file."""
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file raises: the words of SQLite's own error may have bytes of the file in them, which are no text."""
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_VERSION_AT, _APPLICATION_AT = 60, 68


def open_file(
    path: Path, *, application: int, schema: str, what: str, version: int = 0, busy_s: float = BUSY_S
) -> sqlite3.Connection:
    """The file, made if it is not there, readable by nobody else.

    Args:
        path: Where it is.
        application: The number that marks a file of this kind (SQLite's `application_id`).
        schema: What makes an empty file one of this kind; statements that end in a semicolon.
        what: What the file is, for an error.
        version: Of the schema (SQLite's `user_version`); a higher one is refused.
        busy_s: How long to wait for another program that writes to it.

    Raises:
        UsageError: it is something else, or of a newer version.
        TargetError: it cannot be opened or written.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        _check_kind(path, application=application, what=what, version=version)
        connection = _connect(path, busy_s)
    except (OSError, *DATABASE_ERRORS) as error:
        raise TargetError(f"{path}: cannot be opened as {what}: {error}; name another file") from error
    try:
        with transaction(connection):  # two that make the same file at once make it one after the other
            if not _tables(connection):
                connection.execute(f"PRAGMA application_id = {application:d}")
                connection.execute(f"PRAGMA user_version = {version:d}")
                for statement in filter(str.strip, schema.split(";")):
                    connection.execute(statement)
    except DATABASE_ERRORS as error:
        connection.close()
        raise TargetError(f"{path}: cannot be written as {what}: {error}; name another file") from error
    return connection


def open_to_read(
    path: Path, *, application: int, what: str, version: int = 0, busy_s: float = BUSY_S
) -> sqlite3.Connection:
    """A file that must be there, and in which nothing can be written. Raises as `open_file` does.

    What a program left half-written when it died is rolled back where the file may be written: so it is not opened as
    SQLite's `mode=ro`, which refuses such a file.
    """
    try:
        _check_kind(path, application=application, what=what, version=version)
        connection = _connect(path, busy_s)
        connection.execute("PRAGMA query_only = ON")
    except (OSError, *DATABASE_ERRORS) as error:
        raise TargetError(f"{path}: cannot be read as {what}: {error}; name another file") from error
    try:
        is_empty = not _tables(connection)
    except DATABASE_ERRORS as error:
        connection.close()
        raise TargetError(f"{path}: cannot be read as {what}: {error}; name another file") from error
    if is_empty:
        connection.close()
        raise UsageError(f"{path} is empty, and not {what}; name another file")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, and nobody else writes in between."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _connect(path: Path, busy_s: float) -> sqlite3.Connection:
    """A file that is there, by its URI: as a name, `:memory:` and `file:…` would be no file.

    For whichever thread: who opens a file sees to it that no two use it at once.
    """
    place = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(place, timeout=busy_s, isolation_level=None, check_same_thread=False, uri=True)


def _check_kind(path: Path, *, application: int, what: str, version: int) -> None:
    """Raise `UsageError` for what is neither empty nor a file of this kind that this version can read."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header:
        return
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise UsageError(f"{path} is not {what}, and no database at all; name another file")
    marked = int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big")
    found = int.from_bytes(header[_VERSION_AT : _VERSION_AT + 4], "big")
    if marked != application:
        raise UsageError(f"{path} is a database, and not {what}; name another file")
    if marked == application and found > version:
        raise UsageError(
            f"{path} is {what} of version {found}, and this kvfence reads up to {version}; use a newer kvfence, "
            "or name another file"
        )


def _tables(connection: sqlite3.Connection) -> int:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return int(tables)
