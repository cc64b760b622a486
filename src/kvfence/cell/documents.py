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
_NAMES = ("Amara Diallo", "Bo Lindqvist", "Chidi Eze", "Dana Petrov", "Emi Sato", "Farid Nazari", "Greta Holm")
_NOTES = ("discharge on Friday", "call the sister first", "merger vote in June", "keep off the record", "rent unpaid")


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
    lines: list[str] = []
    secrets: list[str] = []
    left = tokens - len(question)
    number = 0
    while left > 0:
        secret = "".join(rng.choices(ALPHABET, k=16))
        line = f"record {number % 100:02d} {secret}: {rng.choice(_NAMES)}, {rng.choice(_NOTES)}.\n"
        if len(line) > left:
            lines.append("-" * (left - 1) + "\n")
            break
        lines.append(line)
        secrets.append(secret)
        left -= len(line)
        number += 1
    return Document("".join(lines) + question, tuple(secrets))


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
