"""What the user named that is read from elsewhere, and how it is shown."""

from __future__ import annotations

import re

from kvfence.errors import TargetError
from kvfence.facts.opened import displayed
from kvfence.findings.redact import without_secrets

HTTP = ("http://", "https://")
S3, GS = ("s3://",), ("gs://", "gcs://")
STORES = (*S3, *GS)
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_IN_QUERY = re.compile(r"([?&][^=&#]+=)[^&#]+")
"""An address that was signed has its signature there."""


def is_address(target: str) -> bool:
    """Whether it is read from elsewhere.

    Raises:
        TargetError: it is, and nothing here reads from there.
    """
    if target.startswith((*HTTP, *STORES)):
        return True
    other = _ADDRESS.match(target)
    if other:
        raise TargetError(
            f"{shown(target)}: no {other.group(1)}:// is read, only http://, https://, s3:// and gs://; download it"
        )
    return False


def shown(target: str) -> str:
    """As it can be printed: without control characters; of an address neither password nor what its query says."""
    if not _ADDRESS.match(target):
        return displayed(target)
    return _IN_QUERY.sub(r"\1…", without_secrets(displayed(target)))
