"""What a dialect has to know: all in which one kind of endpoint differs from others. It sends and judges nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from kvfence.probe.replies import ModelCard, Reply, Response

Fields = tuple[str, ...]
"""Names of a request's fields by which tenants are told apart."""
Body = dict[str, object]
"""A request's, as JSON has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One prompt, in our words."""

    model: str
    prompt: str = field(repr=False)
    answer_tokens_max: int


@dataclass(frozen=True, slots=True)
class CountForm:
    """A place that may count tokens, and which form of a request it takes there."""

    url: str
    form: str


class Dialect(Protocol):
    """One kind of endpoint."""

    @property
    def described(self) -> str:
        """What it is, with its article, for an error."""

    @property
    def counted_by(self) -> str:
        """Who counts tokens beforehand, for the report."""

    @property
    def needs_card(self) -> bool:
        """Whether what is said of the model has to be looked up, even where its context is given."""

    @property
    def tenant_fields(self) -> tuple[Fields, ...]:
        """What tenants are told apart by besides their keys: the most first, for an endpoint may refuse fields."""

    @property
    def stream_usage(self) -> Body:
        """What asks for usage at the end of a streamed answer."""

    def headers(self, api_key: str | None) -> dict[str, str]:
        """Of every request."""

    def models_path(self, model: str | None) -> str:
        """Where it is said, below the base, which models there are and how long their context is."""

    def model_cards(self, response: Response, model: str | None) -> list[ModelCard] | None:
        """What is said there; None when it is no such list. Raises `UsageError` where it has not what is asked for."""

    def request(self, ask: Ask) -> tuple[str, Body]:
        """The path below the base, and the body, of a request that asks."""

    def telling_apart(self, fields: Fields, salt: str) -> Body:
        """The part of a body that tells one tenant from the others."""

    def reply(self, response: Response) -> Reply:
        """An answer or an error, streamed or not."""

    def count_forms(self, base_url: str) -> tuple[CountForm, ...]:
        """Where tokens may be counted before anything is paid for, the best first; none where nobody does."""

    def count_request(self, form: str, model: str, prompt: str) -> Body:
        """The body that has a prompt counted."""

    def token_count(self, response: Response) -> int | None:
        """What was counted, or None."""
