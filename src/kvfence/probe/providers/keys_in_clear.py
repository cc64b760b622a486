"""Whether a text of a file that people share looks like a key, which belongs into a variable. It may be mistaken.

It errs on the side of a false alarm: a variable is a way out that always works.
"""

from __future__ import annotations

import re

SECRET_HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "x-api-key",
        "api-key",
        "apikey",
        "x-goog-api-key",
        "x-auth-token",
    }
)
"""Headers whose value is a secret whatever it looks like."""
_NAMED = re.compile(r"(?i)(?:api|auth|access|secret|private)[-_]?(?:key|token)|password|secret")
_BEGUN = re.compile(
    r"(?i)^(?:(?:bearer|basic|token)\s|(?:sk|pk|rk|gsk|hf|ghp|fw)_|(?:sk|xai|nvapi|glpat|csk)-|AIza|eyJ)"
)
_RUN = re.compile(r"[A-Za-z0-9+/=]{20,}")
_UUID = re.compile(r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_LETTER, _DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"[0-9]")


def is_secret_name(name: str) -> bool:
    """Whether a header or field of this name holds a secret by custom."""
    return name.lower() in SECRET_HEADERS or _NAMED.search(name) is not None


def looks_like_a_key(text: str) -> bool:
    """Whether a text begins as keys do, or has a UUID or a long run of letters and digits, as no word has."""
    if _BEGUN.search(text.strip()) or _UUID.search(text):
        return True
    return any(_LETTER.search(run) and _DIGIT.search(run) for run in _RUN.findall(text))
