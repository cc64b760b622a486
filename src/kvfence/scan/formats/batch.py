"""The two files of a batch, requests and answers, joined by `custom_id`: OpenAI's and Anthropic's.

Field names: OpenAI API reference (batch, request input and output objects; the error file has the same), Anthropic API
reference (message batches, results). The order of answers is not that of requests. A `custom_id` is unique in its batch
alone, so a file of answers is joined with the one file of requests that has its ids, or with none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

from kvfence.scan.exchange import Exchange, Place, Unread
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import model_of, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.fields import first, inside, name_of, status_of
from kvfence.scan.formats.format import NOTHING, Answered, Format, NotThisError
from kvfence.scan.reading.lines import lines_of
from kvfence.scan.reading.opening import opened
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.records import of_raw, records_of
from kvfence.scan.reading.source import Kind, Source

NAME = "batch"
_ANSWERS_COMPARED = 1000
_REQUESTS_KEPT = 8
"""Files of requests whose ids are kept; 50,000 requests is the most in one of OpenAI."""


def joined(sources: Sequence[Source]) -> tuple[Source, ...]:
    """The same sources, each file of a batch knowing the other ones of its batch."""
    of_batches = [source for source in sources if source.format == NAME and source.kind is Kind.LINES]
    requests = [source for source in of_batches if _has_requests(source)]
    beside: dict[int, list[Source]] = {}
    for answers in of_batches:
        partner = None if answers in requests else _partner(answers, requests)
        if partner is not None:
            beside.setdefault(answers.number, []).append(partner)
            beside.setdefault(partner.number, []).append(answers)
    return tuple(replace(source, beside=tuple(beside.get(source.number, ()))) for source in sources)


def _has_requests(source: Source) -> bool:
    return next((_is_request(record) for record in _records(source)), False)


def _partner(answers: Source, requests: Sequence[Source]) -> Source | None:
    """The file of requests that has the most of these ids, unless another has as many."""
    ids = {_id(record) for record in islice(_records(answers), _ANSWERS_COMPARED)}
    found = sorted(((len(ids & _offsets(source).keys()), -source.number, source) for source in requests), reverse=True)
    if not found or not found[0][0] or (len(found) > 1 and found[1][0] == found[0][0]):
        return None
    return found[0][2]


@lru_cache(maxsize=_REQUESTS_KEPT)
def _offsets(source: Source) -> dict[str, int]:
    """Where the line with each id begins."""
    return {_id(record): record.place.offset for record in _records(source)}


def _records(source: Source) -> Iterator[Record]:
    return (record for record in records_of(source) if isinstance(record, Record) and _knows(record))


def _knows(record: Record) -> bool:
    return (
        isinstance(record.value, Mapping)
        and "custom_id" in record.value
        and (_is_request(record) or "response" in record.value or "result" in record.value)
    )


def _is_request(record: Record) -> bool:
    value = record.value
    return isinstance(value, Mapping) and (
        isinstance(value.get("body"), Mapping) or isinstance(value.get("params"), Mapping)
    )


def _id(record: Record) -> str:
    return (name_of(record.value["custom_id"]) or "") if isinstance(record.value, Mapping) else ""


class _Reader:
    def __init__(self, source: Source) -> None:
        self._beside = source.beside
        self._number = source.number

    def read(self, record: Record) -> Iterator[Exchange | Unread]:
        """An answer with its request; a request alone where no answer to it is among the inputs."""
        if not _knows(record) or isinstance(record.value, str):
            raise NotThisError("no line of a batch: it has no custom_id with a request or an answer")
        if not _is_request(record):
            request = self._request(_id(record))
            yield _exchange(record.place, record.value, {} if request is None else request)
        elif not any(_id(record) in _offsets(answers) for answers in self._beside):
            yield _exchange(record.place, {"custom_id": record.value["custom_id"]}, record.value)

    def rest(self) -> Iterator[Exchange]:
        """Nothing."""
        return iter(())

    def _request(self, name: str) -> Mapping[str, Any] | None:
        for source in self._beside:
            offset = _offsets(source).get(name)
            if offset is not None:
                return _value_at(source, offset)
        return None


def _value_at(source: Source, offset: int) -> Mapping[str, Any] | None:
    with opened(source.target) as file:
        if not file.is_seekable:
            raise NotThisError(
                f"its request is in {source.shown}, which is packed or elsewhere; unpack it to join them"
            )
        file.stream.seek(offset)
        raw = next(lines_of(file.stream, offset=offset, stop=offset + 1), None)
    found = next(of_raw(source, raw), None) if raw else None
    return found.value if isinstance(found, Record) and isinstance(found.value, Mapping) else None


def _exchange(place: Place, answer: Mapping[str, Any], request: Mapping[str, Any]) -> Exchange:
    sent = first(request, "body", "params")
    response, result = answer.get("response"), answer.get("result")
    answered = answer_of(first(response, "body")) if isinstance(response, Mapping) else Answered()
    status = status_of(inside(response, "status_code"))
    if isinstance(result, Mapping):
        kind = result.get("type")
        answered = answer_of(result.get("message"))
        status = 200 if kind == "succeeded" else 500 if isinstance(kind, str) else None
    elif status is None and answer.get("error"):
        status = 500
    return exchange(
        place,
        prompt_of(sent) if sent else NOTHING,
        answered,
        id=name_of(answer.get("custom_id")),
        tenant=tenant_of(sent),
        model=answered.model or model_of(sent),
        status=status,
    )


BATCH = Format(
    name=NAME,
    title="batches of OpenAI and Anthropic: requests and answers, joined by custom_id",
    knows=_knows,
    reader=_Reader,
)
