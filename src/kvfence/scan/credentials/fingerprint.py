"""A keyed hash by which a secret is found again, and from which it cannot be tried out without the key."""

from __future__ import annotations

import os
import secrets
import stat
from hashlib import blake2b

from kvfence.errors import UsageError
from kvfence.facts.opened import displayed

KEY_BYTES = 32
FINGERPRINT_BYTES = 32
_KEY_BYTES_MIN = 16
_FILE_BYTES_MAX = 4096


def fingerprint(key: bytes, kind_free_value: bytes) -> bytes:
    """BLAKE2b (RFC 7693), 256 bits. The kind is no part of it: two rules that find one value agree."""
    return blake2b(kind_free_value, digest_size=FINGERPRINT_BYTES, key=key, person=b"kvfence.secret").digest()


def made_up_key() -> bytes:
    """For a run whose fingerprints are compared with no other run's."""
    return secrets.token_bytes(KEY_BYTES)


def key_of(path: str) -> bytes:
    """The key in a file; made there, for its owner alone, where there is no such file.

    Raises:
        UsageError: others can read it, it is too short, or it cannot be made.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return _made(path)
    except OSError as error:
        raise UsageError(f"{_told(path)}: {error.strerror}; name a file that can be read") from None
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise UsageError(f"{_told(path)}: not a file; name a file, or one that is not there yet")
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(f"{_told(path)}: others can open it; chmod 600 it")
        text = os.read(handle, _FILE_BYTES_MAX + 1).strip()
    finally:
        os.close(handle)
    if not _KEY_BYTES_MIN <= len(text) <= _FILE_BYTES_MAX:
        raise UsageError(
            f"{_told(path)}: {len(text):,} bytes; a key has {_KEY_BYTES_MIN} to {_FILE_BYTES_MAX:,}, and one is made "
            "where the file is not there yet"
        )
    return blake2b(text, digest_size=KEY_BYTES).digest()


def _told(path: str) -> str:
    return f"--fingerprint-key {displayed(path)}"


def _made(path: str) -> bytes:
    text = secrets.token_hex(KEY_BYTES).encode()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"{_told(path)}: {error.strerror}; name a file in a folder that can be written") from None
    with os.fdopen(handle, "wb") as file:
        file.write(text + b"\n")
    return blake2b(text, digest_size=KEY_BYTES).digest()
