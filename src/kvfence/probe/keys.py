"""Keys that an endpoint repeats in what it says are taken out before anybody reads, judges or keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

KEY_CHARS_MIN = 8
"""A shorter one is no secret, and may stand in any answer by chance."""
INSTEAD = b"[the api key]"


@dataclass(slots=True)
class Keys:
    """Those that were sent."""

    _forms: list[bytes] = field(default_factory=list)

    def add(self, key: str) -> None:
        """One more; as it is, and as JSON may write it."""
        if len(key) < KEY_CHARS_MIN or key.encode() in self._forms:
            return
        quoted = json.dumps(key)[1:-1]
        self._forms += [form.encode() for form in (key, quoted, quoted.replace("/", "\\/"))]

    def without(self, content: bytes) -> bytes:
        """The content with each of them replaced."""
        for form in self._forms:
            content = content.replace(form, INSTEAD)
        return content
