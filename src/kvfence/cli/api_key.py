"""The key for the servers that `audit` and `gate` ask: named by its variable, so that it is in no command line."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kvfence.errors import UsageError

ApiKeyEnvOption = Annotated[
    str | None,
    typer.Option(help="Variable with the API key of the servers named; KVFENCE_API_KEY is used if it is set."),
]
_USUAL = "KVFENCE_API_KEY"


def api_key(variable: str | None) -> str | None:
    """The key in that variable, or in the usual one; None where neither is set.

    Raises:
        UsageError: the variable that was named is not set, or holds what can be no key.
    """
    value = os.environ.get(variable or _USUAL)
    if variable and not value:
        raise UsageError(f"--api-key-env {variable}: that variable is not set or empty")
    if value and not (value.isascii() and value.isprintable()):
        raise UsageError(f"{variable or _USUAL}: its value has characters that no API key can have")
    return value or None
