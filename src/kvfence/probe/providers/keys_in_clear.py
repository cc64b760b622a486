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
_BEGUN = re.compile(r"(?i)^(?:bearer|basic|token)\s|^(?:sk|pk|rk|gsk|xai|hf|nvapi|key|ghp|glpat|csk|fw)[-_]|^AIza|^eyJ")
_RANDOM = re.compile(r"^(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[A-Za-z0-9_+/=.~-]{24,}$")


def is_secret_name(name: str) -> bool:
    """Whether a header or field of this name holds a secret by custom."""
    return name.lower() in SECRET_HEADERS or _NAMED.search(name) is not None


def looks_like_a_key(text: str) -> bool:
    """Whether a text begins as keys do, or is one long run of letters and digits."""
    return _BEGUN.search(text.strip()) is not None or _RANDOM.match(text.strip()) is not None
