"""The formats by name, and which one a record has. The order decides where two would know it: special ones first."""

from __future__ import annotations

from collections.abc import Iterable

from kvfence.scan.formats.format import Format
from kvfence.scan.formats.plain import PLAIN
from kvfence.scan.reading.record import Record

FORMATS: tuple[Format, ...] = (PLAIN,)
BY_NAME = {form.name: form for form in FORMATS}


def format_of(records: Iterable[Record]) -> Format | None:
    """The format that knows the first of these records that any knows."""
    return next((form for record in records for form in FORMATS if form.knows(record)), None)
