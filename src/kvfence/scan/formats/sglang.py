"""SGLang: the lines of a server with --log-requests, as text or as JSON.

Lines: python/sglang/srt/utils/request_logger.py of sgl-project/sglang. The line of a finished request has the request
and its answer. Levels 0 and 1 have no text; level 2, the default, keeps the first and the last 1,024 characters of
each; level 3 all. Fields of `SGLANG_LOG_REQUEST_ABBREVIATE_FIELDS` are a length and a digest. Times have no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kvfence.scan.exchange import Coverage, Exchange, Place, Unread
from kvfence.scan.formats.build import exchange
from kvfence.scan.formats.fields import count_of, first, inside, ms_of, name_of, status_of
from kvfence.scan.formats.format import NOTHING, Answered, Format, Said
from kvfence.scan.formats.pending import Half, Pending
from kvfence.scan.formats.reprs import CutText, members_at
from kvfence.scan.formats.server_lines import ServerLines, text_of
from kvfence.scan.reading.decoded import NotJsonError, decoded
from kvfence.scan.reading.record import Record

_HEAD_CHARS = 300
_LINE = re.compile(r"(Receive|Finish): obj=(?=\w+\()")
_JSON = re.compile(r"\{\"timestamp\": \"[^\"]*\", \"event\": \"request\.(?:received|finished)[.\w]*\"")
_EVENTS = {"request.received": "Receive", "request.finished": "Finish"}
_HALF_CHARS = 1024
_CUT_AT = slice(_HALF_CHARS, _HALF_CHARS + 3)
_ABBREVIATED = re.compile(r"<\w+: \d+ chars, blake2b=[0-9a-f]+>")
_FAILED = "abort"


def _knows(record: Record) -> bool:
    value = record.value
    if isinstance(value, Mapping) and str(value.get("event", "")).startswith(("request.received", "request.finished")):
        return True
    text = text_of(record)
    return bool(_LINE.search(text, 0, _HEAD_CHARS) or _JSON.search(text, 0, _HEAD_CHARS))


class _Reader:
    def __init__(self) -> None:
        self._lines, self._pending = ServerLines(), Pending()

    def read(self, record: Record) -> Iterator[Exchange | Unread]:
        """The exchange of a request that finished; requests that were given up for want of memory."""
        place, said = record.place, record.value
        at_ms = None
        if isinstance(said, str) or "event" not in said:
            line = self._lines.feed(record)
            if line is None:
                return
            place, at_ms, said = line.place, line.at_ms, _of_line(line.text)
        kind = _EVENTS.get(str(said.get("event")))
        if kind is None:
            return  # the request as it came in, before it had an id; it is told again with one
        at_ms = ms_of(said.get("timestamp")) or at_ms
        about = _about(said)
        name = name_of(first(said, "rid")) or name_of(inside(about, "rid"))
        if kind == "Finish":
            yield _finished(place, name, said, self._pending.take(name) if name else None, at_ms)
        elif name:
            half = Half(place, _said(about.get("text")), fields={"began_ms": at_ms, "tenant": _tenant(about)})
            for given_up, old in self._pending.put(name, half):
                yield _unfinished(given_up, old)

    def rest(self) -> Iterator[Exchange]:
        """The requests that did not finish in this file."""
        for name, half in self._pending.rest():
            yield _unfinished(name, half)


def _of_line(text: str) -> Mapping[str, Any]:
    """What a line says, in the words of the JSON form."""
    found = _JSON.search(text, 0, _HEAD_CHARS)
    if found:
        try:
            value = decoded(text[found.start() :])
        except NotJsonError:
            return {}
        return value if isinstance(value, Mapping) else {}
    found = _LINE.search(text, 0, _HEAD_CHARS)
    if not found:
        return {}
    about, end = members_at(text, found.end())
    out = members_at(text, at + len("out="))[0] if (at := text.find("out={", end)) >= 0 else None
    event = next(event for event, kind in _EVENTS.items() if kind == found.group(1))
    return {"event": event, "obj": about, "out": out}


def _about(said: Mapping[str, Any]) -> Mapping[str, Any]:
    about = said.get("obj")
    return about if isinstance(about, Mapping) else {}


def _finished(
    place: Place, name: str | None, said: Mapping[str, Any], half: Half | None, at_ms: int | None
) -> Exchange:
    about, out = _about(said), said.get("out")
    meta = inside(out, "meta_info")
    reason = inside(meta, "finish_reason")
    kind = name_of(inside(reason, "type")) or name_of(reason)
    took = inside(meta, "e2e_latency")
    began = half.fields.get("began_ms") if half else None
    if began is None and at_ms is not None and isinstance(took, int | float):
        began = at_ms - round(took * 1000)
    prompt = _said(about.get("text"))
    return exchange(
        place,
        half.prompt if half and prompt == NOTHING else prompt,
        Answered(said=_said(inside(out, "text"))),
        id=name or name_of(inside(meta, "id")),
        tenant=_tenant(about),
        began_ms=began if isinstance(began, int) else None,
        ended_ms=at_ms,
        status=status_of(inside(reason, "status_code")) or (500 if kind == _FAILED else 200 if kind else None),
        finish=kind,
        prompt_tokens=count_of(inside(meta, "prompt_tokens")),
        answer_tokens=count_of(inside(meta, "completion_tokens")),
    )


def _unfinished(name: str, half: Half) -> Exchange:
    began, tenant = half.fields.get("began_ms"), half.fields.get("tenant")
    return exchange(
        half.place,
        half.prompt,
        Answered(),
        id=name,
        tenant=name_of(tenant),
        began_ms=began if isinstance(began, int) else None,
    )


def _tenant(about: Mapping[str, Any]) -> str | None:
    """What keeps the cache apart, where the client gave it."""
    return name_of(first(about, "extra_key", "cache_salt"))


def _said(text: Any) -> Said:
    """A text as it was logged, and whether it was cut."""
    if isinstance(text, list):
        some = [_said(one) for one in text]
        is_whole = all(one.coverage is Coverage.WHOLE for one in some)
        return (
            Said("\n".join(one.text for one in some), Coverage.WHOLE if is_whole else Coverage.CUT) if some else NOTHING
        )
    if isinstance(text, CutText):
        return Said(text, Coverage.CUT)
    if not isinstance(text, str) or _ABBREVIATED.fullmatch(text):
        return NOTHING
    is_cut = len(text) == 2 * _HALF_CHARS + 3 and text[_CUT_AT] == "..."
    return Said(text, Coverage.CUT if is_cut else Coverage.WHOLE)


SGLANG = Format(
    name="sglang",
    title="SGLang: a server's log with --log-requests, as text or as JSON",
    knows=_knows,
    reader=lambda _: _Reader(),
    is_joined=True,
    has_other_lines=True,
)
