"""A span of a call of a model as an exchange, whichever convention its instrumentation follows.

Conventions: OpenTelemetry GenAI, `gen_ai.input.messages` on the span or on one event; up to 1.36 an event a message;
before it `gen_ai.prompt` and `gen_ai.completion`, as JSON or by number. OpenInference: `llm.input_messages.N.…`, or
`input.value`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Coverage, Exchange
from kvfence.scan.formats.bodies.free import free_answer_of, free_prompt_of
from kvfence.scan.formats.bodies.sent import opened, prompt_of
from kvfence.scan.formats.bodies.texts import BETWEEN, message_texts, texts_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import with_cuts
from kvfence.scan.formats.fields import count_of, first, inside, name_of
from kvfence.scan.formats.format import NOTHING, Answered, Said
from kvfence.scan.formats.spans import Span, leaves_under

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
MESSAGES = frozenset(f"gen_ai.{role}.message" for role in ("system", "user", "assistant", "tool"))
_NO_REQUEST = frozenset(
    {"execute_tool", "invoke_agent", "create_agent", "invoke_workflow", "embeddings", "rerank", "retrieval"}
)
"""Operations that are no call of a model that answers with text; an agent's repeats those that it made."""
_NO_TEXT = frozenset({"role", "type", "finish_reason", "id", "index", "mime_type", "detail"})
_FILE = ".image."
_PROMPT, _COMPLETION = "gen_ai.prompt", "gen_ai.completion"


def is_gen_ai(span: Span) -> bool:
    """Whether it says so by OpenTelemetry's names."""
    return any(name.startswith("gen_ai.") for name in span.attributes)


def is_open_inference(span: Span) -> bool:
    """Whether it says so by OpenInference's."""
    return "openinference.span.kind" in span.attributes or any(name.startswith("llm.") for name in span.attributes)


def exchanges_of_span(span: Span) -> Iterator[Exchange]:
    """The one that it tells; none where it is no call of a model."""
    of = span.attributes
    if not _is_request(span):
        return
    prompt, answered = _texts(span)
    yield exchange(
        span.place,
        with_cuts(prompt),
        answered.saying(with_cuts(answered.said)),
        id=name_of(first(of, "gen_ai.response.id")) or span.id,
        tenant=name_of(first(of, "tenant.id", "user.id", "enduser.id", "enduser.pseudo.id", "gen_ai.user.id")),
        session=name_of(first(of, "gen_ai.conversation.id", "session.id")),
        model=name_of(
            first(of, "gen_ai.response.model", "llm.response.model_name", "gen_ai.request.model", "llm.model_name")
        ),
        provider=name_of(first(of, "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")),
        began_ms=span.began_ms,
        ended_ms=span.ended_ms,
        status=span.status,
        finish=_finish(of),
        prompt_tokens=count_of(
            first(of, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
        ),
        answer_tokens=count_of(
            first(of, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
        ),
    )


def message_in(event: Mapping[str, Any]) -> Iterator[str]:
    """The texts of an event that is a message or a choice: in its body, as JSON in an attribute, or as attributes."""
    body = opened(first(event, "gen_ai.event.content", "body")) or event
    if isinstance(body, Mapping):
        inner = body.get("message")
        named = {name.removeprefix("message."): value for name, value in body.items()}
        yield from message_texts(inner if isinstance(inner, Mapping) else named)
    else:
        yield from texts_of(body)


def _is_request(span: Span) -> bool:
    of = span.attributes
    kind = of.get("openinference.span.kind") or of.get("span_kind")
    if kind is not None and not is_gen_ai(span):
        return str(kind).upper() == "LLM"
    if not (is_gen_ai(span) or is_open_inference(span)):
        return False
    return str(of.get("gen_ai.operation.name", "")).lower() not in _NO_REQUEST


def _texts(span: Span) -> tuple[Said, Answered]:
    """The prompt and the answer, by the first convention of which either is there."""
    details = next((about for name, about in span.events if name == DETAILS), None)
    for of in (span.attributes, details or {}):
        prompt, said = _of_messages(of)
        if (prompt, said) != (NOTHING, NOTHING):
            return prompt, Answered(said=said)
    messages = [text for name, about in span.events if name in MESSAGES for text in message_in(about)]
    choices = [text for name, about in span.events if name == CHOICE for text in message_in(about)]
    if messages or choices:
        return _joined(messages), Answered(said=_joined(choices))
    return _of_older(span)


def _of_messages(of: Mapping[str, Any]) -> tuple[Said, Said]:
    system = _kept(of.get("gen_ai.system_instructions"))
    prompt, answer = _kept(of.get("gen_ai.input.messages")), _kept(of.get("gen_ai.output.messages"))
    if system.text and prompt.text:
        prompt = Said(f"{system.text}{BETWEEN}{prompt.text}", max(system.coverage, prompt.coverage, key=_is_cut))
    return (system if prompt == NOTHING else prompt), answer


def _kept(value: Any) -> Said:
    """Messages as an array, or as JSON in a text. An attribute's limit of length cuts JSON in its middle."""
    value = opened(value)
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        return Said(value, Coverage.CUT)
    return prompt_of(value) if value else NOTHING


def _is_cut(coverage: Coverage) -> bool:
    return coverage is not Coverage.WHOLE


def _of_older(span: Span) -> tuple[Said, Answered]:
    of = dict(span.attributes)
    for name, about in span.events:
        if name in {"gen_ai.content.prompt", "gen_ai.content.completion"}:
            of |= about
    for sent, received in (
        (_PROMPT, _COMPLETION),
        ("llm.input_messages", "llm.output_messages"),
        ("llm.prompts", "llm.choices"),
    ):
        prompt, answer = _under(of, sent), _under(of, received)
        if (prompt, answer) != (NOTHING, NOTHING):
            return prompt, Answered(said=answer)
    return free_prompt_of(of.get("input.value")), free_answer_of(of.get("output.value"))


def _under(of: Mapping[str, Any], prefix: str) -> Said:
    if isinstance(of.get(prefix), str):
        return _kept(of[prefix])
    leaves = leaves_under(of, prefix)
    return _joined(
        [
            str(value)
            for name, value in leaves
            if not isinstance(value, bool) and _FILE not in name and name.rpartition(".")[2] not in _NO_TEXT
        ]
    )


def _joined(texts: list[str]) -> Said:
    return Said(BETWEEN.join(texts)) if texts else NOTHING


def _finish(of: Mapping[str, Any]) -> str | None:
    reasons = opened(first(of, "gen_ai.response.finish_reasons", "llm.finish_reason"))
    reason = inside(reasons, 0) if isinstance(reasons, list) else reasons
    return name_of(reason) or name_of(inside(opened(of.get("gen_ai.output.messages")), 0, "finish_reason"))
