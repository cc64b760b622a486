"""The JSON of one record as values; what is no JSON says why, without a word of it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

TOO_DEEP = "JSON nested too deep to be read"


class NotJsonError(ValueError):
    """The message says why."""


def decoded(raw: bytes | str) -> Any:
    """The value of a JSON text.

    Beyond the standard, what logs have all the same is read: `NaN`, and halves of surrogate pairs, which a stream cut
    within an emoji leaves behind (they become U+FFFD, since they are no text).

    Raises:
        NotJsonError: it is none.
    """
    try:
        return msgspec.json.decode(raw)
    except RecursionError as error:
        raise NotJsonError(TOO_DEEP) from error
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        return _leniently(raw, str(error))


def _leniently(raw: bytes | str, why: str) -> Any:
    try:
        text = raw if isinstance(raw, str) else raw.decode()
        value = json.loads(text)
        if "\\u" in text:
            value = json.loads(_clean(json.dumps(value, ensure_ascii=False)))
    except UnicodeDecodeError as error:
        raise NotJsonError(f"not UTF-8 at byte {error.start} of the record") from error
    except RecursionError as error:
        raise NotJsonError(TOO_DEEP) from error
    except ValueError as error:
        raise NotJsonError(f"not JSON ({why})") from error
    return value


def _clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
