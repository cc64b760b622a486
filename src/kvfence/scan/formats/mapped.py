"""The format that the user described in a file: any log of one record a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Exchange, Unread
from kvfence.scan.formats.bodies.free import free_answer_of, free_prompt_of
from kvfence.scan.formats.bodies.received import answer_of
from kvfence.scan.formats.bodies.sent import model_of, opened, prompt_of, tenant_of
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.cuts import with_cuts
from kvfence.scan.formats.fields import count_of, inside, ms_of, name_of, status_of
from kvfence.scan.formats.format import Format, NotThisError
from kvfence.scan.mapping import FieldMapping, Steps
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.source import Source


class _Reader:
    def __init__(self, source: Source) -> None:
        self._of = source.mapping or FieldMapping()

    def read(self, record: Record) -> Iterator[Exchange | Unread]:
        """The exchange of this record."""
        of, value = self._of, record.value
        if isinstance(value, str):
            raise NotThisError("not a JSON object")
        sent, received = opened(_at(value, of.request)), _at(value, of.response)
        text, answer = _at(value, of.prompt), _at(value, of.answer)
        if (sent, received, text, answer) == (None, None, None, None):
            raise NotThisError("it has neither the request nor the answer of the mapping")
        prompt = prompt_of(sent) if of.request else free_prompt_of(text)
        answered = answer_of(received) if of.response else free_answer_of(answer)
        yield exchange(
            record.place,
            with_cuts(prompt),
            answered.saying(with_cuts(answered.said)),
            id=name_of(_at(value, of.id)),
            tenant=name_of(_at(value, of.user)) or tenant_of(sent),
            session=name_of(_at(value, of.session)),
            model=name_of(_at(value, of.model)) or model_of(sent),
            provider=name_of(_at(value, of.provider)),
            began_ms=ms_of(_at(value, of.created)),
            ended_ms=ms_of(_at(value, of.ended)),
            status=status_of(_at(value, of.status)),
            finish=name_of(_at(value, of.finish)),
            prompt_tokens=count_of(_at(value, of.prompt_tokens)),
            sent=sent if of.request else text,
            answer_tokens=count_of(_at(value, of.answer_tokens)),
        )

    def rest(self) -> Iterator[Exchange]:
        """Nothing."""
        return iter(())


def _at(record: Mapping[str, Any], steps: Steps | None) -> Any:
    """What stands there; a column may be named by the whole path, and JSON may be kept in a text."""
    if steps is None:
        return None
    value: Any = record
    if (whole := ".".join(steps)) in record:
        return record[whole]
    for step in steps:
        value = opened(value)
        value = inside(value, int(step) if isinstance(value, list) and step.lstrip("-").isdecimal() else step)
    return value


MAPPED = Format(
    name="mapping",
    title="any other log, described by --mapping FILE.toml",
    knows=lambda _: False,
    reader=_Reader,
)
