"""A source as exchanges, in batches of bounded size; and single ones again, by their place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import pyarrow as pa

from kvfence.scan.batches import batch_of
from kvfence.scan.exchange import Exchange, Unread
from kvfence.scan.formats.catalogue import BY_NAME, FORMATS
from kvfence.scan.formats.format import Format, NotThisError, Reader
from kvfence.scan.formats.server_lines import is_line
from kvfence.scan.formats.unwrapped import unwrapped
from kvfence.scan.reading.decoded import TOO_DEEP
from kvfence.scan.reading.lines import lines_of
from kvfence.scan.reading.looking import NO_FORMAT
from kvfence.scan.reading.opening import Opened, opened
from kvfence.scan.reading.record import Record
from kvfence.scan.reading.records import WHOLE, Part, of_raw, records_of
from kvfence.scan.reading.source import Kind, Source

TEXT_BYTES = 16 << 20
ROWS_MAX = 4096
_SKIPPED_AT_ONCE = 1 << 20


def batches_of(
    source: Source, part: Part = WHOLE, *, text_bytes: int = TEXT_BYTES
) -> Iterator[pa.RecordBatch | Unread]:
    """The exchanges of a source, and in between what could not be read of it. Nothing is raised for bad input.

    A batch ends with the exchange by which its texts come to `text_bytes` characters or more.
    """
    some: list[Exchange] = []
    size = 0
    for item in exchanges_of(source, part):
        if isinstance(item, Unread):
            yield item
            continue
        some.append(item)
        size += len(item.prompt) + len(item.answer)
        if size >= text_bytes or len(some) == ROWS_MAX:
            yield batch_of(some)
            some, size = [], 0
    if some:
        yield batch_of(some)


def exchanges_of(source: Source, part: Part = WHOLE) -> Iterator[Exchange | Unread]:
    """The exchanges of a source in its order, and what could not be read of it."""
    making = _Making(source)
    for record in records_of(source, part, texts=making.has_other_lines):
        if isinstance(record, Unread):
            yield record
        else:
            yield from making.of(record)
    yield from making.rest()


def exchanges_at(source: Source, offsets: Collection[int]) -> Iterator[Exchange]:
    """The exchanges at these offsets, in the order of the source.

    Of a file of lines those alone are read (`line` of what comes is 0 then, as nobody counted), and a packed one is
    unpacked up to them; others are read from their beginning.
    """
    wanted = set(offsets)
    if _is_of_lines(source):
        yield from _at_lines(source, wanted)
        if not wanted:
            return
    for item in exchanges_of(source):
        if isinstance(item, Exchange) and item.place.offset in wanted:
            wanted.discard(item.place.offset)
            yield item
            if not wanted:
                return


def exchange_at(source: Source, offset: int) -> Exchange:
    """The one exchange at this offset.

    Raises:
        LookupError: there is none; the file has changed since.
    """
    found = next(exchanges_at(source, [offset]), None)
    if found is None:
        raise LookupError(f"{source.shown}: no exchange at byte {offset} any more; the file has changed")
    return found


def is_divisible(source: Source) -> bool:
    """Whether it can be read in parts: lines, not packed, on this machine, none that needs another."""
    if not _is_of_lines(source):
        return False
    with opened(source.target) as file:
        return file.is_seekable


def _is_of_lines(source: Source) -> bool:
    """Whether each line says all of its exchanges."""
    form = BY_NAME.get(source.format)
    return source.kind is Kind.LINES and form is not None and not form.is_joined


def _at_lines(source: Source, wanted: set[int]) -> Iterator[Exchange]:
    making = _Making(source)
    with opened(source.target) as file:
        at = 0  # behind the end of a line
        for offset in sorted(wanted):
            if offset < at or (offset > at and not _is_line_begun(file, at, offset)):
                at = max(at, offset)
                continue  # the n-th of a line that has several
            raw = next(lines_of(file.stream, offset=offset, line=0, stop=offset + 1), None)
            if raw is None or raw.content is None:
                return  # no exchange is there any more
            at = offset + len(raw.content)
            for record in of_raw(source, raw, texts=making.has_other_lines):
                for item in making.of(record) if isinstance(record, Record) else ():
                    if isinstance(item, Exchange) and item.place.offset in wanted:
                        wanted.discard(item.place.offset)
                        yield item


def _is_line_begun(file: Opened, at: int, offset: int) -> bool:
    """Go on from `at` to a later offset. Whether a line begins there."""
    if file.is_seekable:
        file.stream.seek(offset - 1)
    else:
        while at < offset - 1:
            skipped = len(file.stream.read(min(_SKIPPED_AT_ONCE, offset - 1 - at)))
            if not skipped:
                return False
            at += skipped
    return file.stream.read(1) == b"\n"


class _Making:
    """Makes exchanges of a source's records, in their order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._form = BY_NAME.get(source.format)
        self._readers: dict[str, Reader] = {}

    @property
    def has_other_lines(self) -> bool:
        """Whether lines that are no records are expected."""
        return self._form is not None and self._form.has_other_lines

    def of(self, record: Record) -> Iterator[Exchange | Unread]:
        """What this record says; the reason where it says nothing that is known."""
        try:
            yield from self._of(record)
        except NotThisError as error:
            yield self._unread(record, str(error))
        except RecursionError:
            yield self._unread(record, TOO_DEEP)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            yield self._unread(
                record, f"its fields are not what the format {self._form_name} has ({type(error).__name__})"
            )

    def rest(self) -> Iterator[Exchange | Unread]:
        """What is left where no more records come."""
        for reader in self._readers.values():
            yield from reader.rest()

    @property
    def _form_name(self) -> str:
        return self._form.name if self._form else "found for it"

    def _of(self, record: Record) -> Iterable[Exchange | Unread]:
        form = self._form_of(record)
        if form is not None:
            return self._reader(form).read(record)
        inner = list(unwrapped(record))
        if inner:
            return [item for one in inner for item in self.of(one)]
        return () if self.has_other_lines else [self._unread(record, NO_FORMAT)]

    def _form_of(self, record: Record) -> Format | None:
        """The source's own format; another where it does not know the record, and one record is enough for it."""
        form = self._form
        if form and (form.knows(record) or self._source.is_asked or (form.has_other_lines and is_line(record))):
            return form
        return next((form for form in FORMATS if not form.is_joined and form.knows(record)), None)

    def _reader(self, form: Format) -> Reader:
        if form.name not in self._readers:
            self._readers[form.name] = form.reader(self._source)
        return self._readers[form.name]

    def _unread(self, record: Record, why: str) -> Unread:
        return Unread(source=self._source.number, line=record.place.line, why=why)
