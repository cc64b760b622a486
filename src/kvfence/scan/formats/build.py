"""An exchange of what a record says itself, and of what its response says where the record does not."""

from __future__ import annotations

from typing import Any

from kvfence.scan.exchange import Exchange, Place
from kvfence.scan.formats.cuts import with_count
from kvfence.scan.formats.format import NOTHING, Answered, Said

_REFUSED = frozenset(range(400, 499))
"""These answers never began. 499 is a client that went away, and a 500 may have come in the middle."""


def exchange(
    place: Place,
    prompt: Said,
    answered: Answered,
    *,
    id: str | None = None,  # noqa: A002 — the word of every log
    tenant: str | None = None,
    session: str | None = None,
    model: str | None = None,
    provider: str | None = None,
    began_ms: int | None = None,
    ended_ms: int | None = None,
    status: int | None = None,
    finish: str | None = None,
    prompt_tokens: int | None = None,
    answer_tokens: int | None = None,
    sent: Any = None,
) -> Exchange:
    """The exchange at this place. What is None is taken of the response, if it has it.

    `sent`: the request's body, where it is known; a prompt that is too short for its count of tokens is cut then.
    """
    tokens = answered.prompt_tokens if prompt_tokens is None else prompt_tokens
    prompt = prompt if sent is None else with_count(prompt, tokens, sent)
    answer = Said("") if answered.said == NOTHING and status in _REFUSED else answered.said
    return Exchange(
        place=place,
        id=id or answered.id or f"source {place.source}, byte {place.offset}",
        tenant=tenant,
        session=session or answered.session,
        model=model or answered.model,
        provider=provider,
        began_ms=answered.began_ms if began_ms is None else began_ms,
        ended_ms=ended_ms,
        status=status,
        finish=finish or answered.finish,
        prompt=prompt.text,
        prompt_coverage=prompt.coverage,
        answer=answer.text,
        answer_coverage=answer.coverage,
        prompt_tokens=tokens,
        answer_tokens=answered.answer_tokens if answer_tokens is None else answer_tokens,
    )
