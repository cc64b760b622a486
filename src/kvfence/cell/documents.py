"""Invented documents full of random secrets, all of one shape, as tenants of one product send them.

Every line begins with a number and a secret that exists nowhere else, so that a model that looks back 8 bytes, asked
for a number, goes on with that line's secret and no other's. Only the client that makes a document knows them:
whoever finds one in another client's answer has found a leak. No secret has the shape of a real one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter is mistaken for another."""
SECRET_CHARS = 16
"""80 bits: no two are ever alike, and none is met by chance."""


@dataclass(frozen=True, slots=True)
class Document:
    """A tenant's text and the secrets in it."""

    text: str
    secrets: tuple[str, ...]

    def secrets_in(self, answer: str) -> tuple[str, ...]:
        """Those of this document's secrets that stand in somebody's answer."""
        return tuple(secret for secret in self.secrets if secret in answer)


QUESTION = "record 02 "
"""Asks for a line near the start of a document, so that half of a foreign document is enough to answer wrongly."""


def make_document(rng: random.Random, tokens: int, *, question: str) -> Document:
    """A document of exactly `tokens` tokens (bytes) that ends in `question`, for the model to go on from."""
    count, padding = divmod(max(tokens - len(question), 0), len(_line(rng, 0, "0" * SECRET_CHARS)))
    secrets = tuple("".join(rng.choices(ALPHABET, k=SECRET_CHARS)) for _ in range(count))
    lines = "".join(_line(rng, number, secret) for number, secret in enumerate(secrets))
    return Document(_ruler(padding) + lines + question, secrets)


def _line(rng: random.Random, number: int, secret: str) -> str:
    """No stretch of 8 bytes or more but the number's stands in two lines, so a model that copies does not stray."""
    return f"record {number % 100:02d} {secret}: case {rng.randrange(10**5):05d}, file {rng.randrange(10**5):05d}.\n"


def _ruler(chars: int) -> str:
    return "-" * (chars - 1) + "\n" if chars else ""


def foreign_run(answer: str, own: str, other: str, *, at_least: int = 16) -> str:
    """The longest run of `answer` that stands in `other` and not in `own`, or nothing when it is shorter.

    For showing only: documents share wording, so a run proves nothing by itself. A secret does.
    """
    longest = ""
    for start in range(len(answer)):
        stop = start + max(at_least, len(longest) + 1)
        while stop <= len(answer) and answer[start:stop] in other and answer[start:stop] not in own:
            longest = answer[start:stop]
            stop += 1
    return longest
