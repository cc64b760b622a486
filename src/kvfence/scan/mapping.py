"""A log format that the user describes: a TOML file that says where in a record what is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kvfence.errors import UsageError
from kvfence.facts.opened import displayed

_BYTES_MAX = 1 << 20
_USAGE = {"prompt": "prompt_tokens", "answer": "answer_tokens"}

Steps = tuple[str, ...]
"""Names of fields, and numbers in lists, from a record inwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMapping:
    """Where in a record what is; None where the log does not have it."""

    id: Steps | None = None
    created: Steps | None = None
    ended: Steps | None = None
    user: Steps | None = None
    """The tenant."""
    session: Steps | None = None
    model: Steps | None = None
    provider: Steps | None = None
    status: Steps | None = None
    finish: Steps | None = None
    request: Steps | None = None
    """The body of a request, as an API has it."""
    response: Steps | None = None
    prompt: Steps | None = None
    """In place of a body: the text itself, or any JSON, all of which is taken."""
    answer: Steps | None = None
    prompt_tokens: Steps | None = None
    answer_tokens: Steps | None = None


_NAMES = tuple(field.name for field in fields(FieldMapping) if not field.name.endswith("_tokens"))


def mapping_of(file: str) -> FieldMapping:
    """What a file says.

    Raises:
        UsageError: it cannot be read, is no TOML, or says what is no mapping; one line says which and what to do.
    """
    shown = displayed(file)
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(_BYTES_MAX)
        said = tomllib.loads(content.decode())
    except (OSError, ValueError, RecursionError) as error:  # TOML that is none, text that is no UTF-8
        why = getattr(error, "strerror", None) or displayed(str(error)) or type(error).__name__
        raise UsageError(f"--mapping {shown}: {why}") from None
    try:
        return _checked(said)
    except ValueError as error:
        raise UsageError(f"--mapping {shown}: {error}") from None


def _checked(said: Mapping[str, Any]) -> FieldMapping:
    told = {name: _steps(name, value) for name, value in said.items() if name != "usage" and _is_known(name, _NAMES)}
    usage = said.get("usage", {})
    if not isinstance(usage, Mapping):
        raise ValueError('usage: a table is needed: [usage], prompt = "…", answer = "…"')  # noqa: TRY004 — of the user's text
    counts = {_USAGE[name]: _steps(f"usage.{name}", value) for name, value in usage.items() if _is_known(name, _USAGE)}
    for body, text in (("request", "prompt"), ("response", "answer")):
        if (body in told) == (text in told):
            raise ValueError(f"say either {body} (the body as the API has it) or {text} (its text)")
    return FieldMapping(**told, **counts)


def _is_known(name: str, names: Mapping[str, str] | tuple[str, ...]) -> bool:
    if name not in names:
        raise ValueError(f"{displayed(name)}: no such field; there are {', '.join(names)}")
    return True


def _steps(name: str, value: Any) -> Steps:
    steps = value.split(".") if isinstance(value, str) else value
    if not isinstance(steps, list) or not steps or not all(isinstance(step, str) and step for step in steps):
        raise ValueError(f'{name}: a dotted path is needed, such as "meta.id", or a list of names: ["meta", "a.b"]')
    return tuple(steps)
