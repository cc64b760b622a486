"""The formats by name, and which one a record has. The order decides where two would know it: special ones first."""

from __future__ import annotations

from collections.abc import Iterable

from kvfence.scan.formats.batch import BATCH
from kvfence.scan.formats.cloudflare import CLOUDFLARE
from kvfence.scan.formats.format import Format
from kvfence.scan.formats.helicone import HELICONE
from kvfence.scan.formats.langfuse import LANGFUSE
from kvfence.scan.formats.litellm import LITELLM
from kvfence.scan.formats.mapped import MAPPED
from kvfence.scan.formats.openrouter import OPENROUTER
from kvfence.scan.formats.otel import OTEL, OTEL_EVENTS, PHOENIX
from kvfence.scan.formats.pair import PAIR
from kvfence.scan.formats.plain import PLAIN
from kvfence.scan.formats.portkey import PORTKEY
from kvfence.scan.formats.sglang import SGLANG
from kvfence.scan.formats.vllm import VLLM
from kvfence.scan.reading.record import Record

FORMATS: tuple[Format, ...] = (
    LITELLM,
    BATCH,
    CLOUDFLARE,
    LANGFUSE,
    HELICONE,
    PORTKEY,
    OPENROUTER,
    SGLANG,
    VLLM,
    PHOENIX,
    OTEL_EVENTS,
    OTEL,
    PLAIN,
    PAIR,
)
BY_NAME = {form.name: form for form in (*FORMATS, MAPPED)}


def format_of(records: Iterable[Record]) -> Format | None:
    """The format that knows the first of these records that any knows."""
    return next((form for record in records for form in FORMATS if form.knows(record)), None)
