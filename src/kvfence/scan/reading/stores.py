"""Objects of S3 and of Google Cloud Storage, by Arrow's clients. Keys come from where those clients look for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from kvfence.errors import TargetError
from kvfence.facts.opened import displayed
from kvfence.findings.redact import without_secrets
from kvfence.scan.reading.addresses import GS, S3

_WHY_CHARS_MAX = 200
_GS_RETRY = "retry_limit_seconds"
_GS_RETRY_S = 30
"""Google's client tries for fifteen minutes unless it is told."""
_KEYS = {
    S3: "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION if it asks for them",
    GS: "set GOOGLE_APPLICATION_CREDENTIALS if it asks for them, or name it gs://anonymous@BUCKET/…",
}


def stream_of(target: str) -> Any:
    """The object's bytes as they are stored, from their beginning.

    Raises:
        TargetError: there is none, or it cannot be reached.
    """
    with _told(target):
        store, path = pafs.FileSystem.from_uri(_bounded(target))
        return store.open_input_stream(path, compression=None)  # unpacked by us, who tell where it is cut off


def file_of(target: str) -> Any:
    """The object as a file that can be read at any place.

    Raises:
        TargetError: there is none, or it cannot be reached.
    """
    with _told(target):
        store, path = pafs.FileSystem.from_uri(_bounded(target))
        return store.open_input_file(path)


def _bounded(target: str) -> str:
    if not target.startswith(GS) or _GS_RETRY in target:
        return target
    return f"{target}{'&' if '?' in target else '?'}{_GS_RETRY}={_GS_RETRY_S}"


@contextmanager
def _told(target: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        why = re.sub(r"\s+", " ", without_secrets(displayed(str(error).partition("\n")[0])))[:_WHY_CHARS_MAX]
        keys = next(keys for schemes, keys in _KEYS.items() if target.startswith(schemes))
        raise TargetError(f"cannot be reached; {keys} ({why})") from None
