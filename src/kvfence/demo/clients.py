"""The two customers of the demo, over HTTP like any other. Only tenant A's own client knows A's secrets."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import httpx

from kvfence.cell.documents import QUESTION, Document, make_document
from kvfence.errors import TargetError

ANSWER_TOKENS = 96
TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a customer got."""

    status: int
    text: str
    prompt_tokens: int | None
    error: str


@dataclass(slots=True)
class Customer:
    """One API key, one document."""

    name: str
    base_url: str
    document: Document = field(repr=False)

    @classmethod
    def with_document(cls, name: str, base_url: str, rng: random.Random, tokens: int) -> Customer:
        """A customer with a fresh document of exactly `tokens` tokens."""
        return cls(name, base_url, make_document(rng, tokens, question=QUESTION))

    def ask(self) -> Answer:
        """Send the document and ask for one of its records."""
        body = {
            "model": "induction",
            "max_tokens": ANSWER_TOKENS,
            "messages": [{"role": "user", "content": self.document.text}],
        }
        headers = {"authorization": f"Bearer {self.name}"}
        try:
            response = httpx.post(f"{self.base_url}/chat/completions", json=body, headers=headers, timeout=TIMEOUT_S)
            return _answer(response)
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise TargetError(f"the demo's own cell at {self.base_url} did not answer: {error}") from error

    def secrets_in(self, answer: Answer) -> tuple[str, ...]:
        """Which of this customer's secrets stand in somebody's answer."""
        return self.document.secrets_in(answer.text)


def _answer(response: httpx.Response) -> Answer:
    body = response.json()
    if not response.is_success:
        return Answer(response.status_code, "", None, body["error"]["message"])
    text = body["choices"][0]["message"]["content"]
    return Answer(response.status_code, text, body["usage"]["prompt_tokens"], "")
