"""Every question to every engine, listed by hand: reading this is reading the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from kvfence.facts.source.question import Question
from kvfence.facts.source.sglang.bootstrap_fields import BOOTSTRAP_FIELDS
from kvfence.facts.source.sglang.canary import CANARY
from kvfence.facts.source.sglang.checksum import CHECKSUM
from kvfence.facts.source.sglang.deferred_release import DEFERRED_BY_DEFAULT, DEFERRED_RELEASE
from kvfence.facts.source.sglang.doors import DECODE_DOOR, PREFILL_DOOR
from kvfence.facts.source.sglang.length_check import LENGTH_CHECK
from kvfence.facts.source.sglang.placeholder import PLACEHOLDER
from kvfence.facts.source.sglang.result_gate import RESULT_GATE
from kvfence.facts.source.vllm.block_ids import BLOCK_IDS
from kvfence.facts.source.vllm.expiry import EXPIRY
from kvfence.facts.source.vllm.late_reads import LATE_READS
from kvfence.facts.source.vllm.lease import LEASE


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What is asked of one engine's code."""

    folders: tuple[str, ...]
    """Where its files are that decide; `FILE.py` for one file."""
    disaggregated: tuple[str, ...]
    """Without one of these it has no prefill and decode apart."""
    called: str
    """That part, in words."""
    questions: tuple[Question, ...]


CATALOGUE = {
    "sglang": Catalogue(
        folders=(
            "srt/disaggregation",
            "srt/managers",
            "srt/entrypoints",
            "srt/arg_groups",
            "srt/server_args.py",
            "srt/environ.py",
            "srt/model_executor/model_runner.py",
        ),
        disaggregated=("srt/disaggregation/prefill.py", "srt/disaggregation/decode.py"),
        called="disaggregated serving (srt/disaggregation)",
        questions=(
            PREFILL_DOOR,
            RESULT_GATE,
            DECODE_DOOR,
            PLACEHOLDER,
            LENGTH_CHECK,
            DEFERRED_RELEASE,
            DEFERRED_BY_DEFAULT,
            CHECKSUM,
            CANARY,
            BOOTSTRAP_FIELDS,
        ),
    ),
    "vllm": Catalogue(
        folders=("distributed/kv_transfer/kv_connector/v1",),
        disaggregated=(
            "distributed/kv_transfer/kv_connector/v1/nixl_connector.py",
            "distributed/kv_transfer/kv_connector/v1/nixl",
        ),
        called="NIXL connector (distributed/kv_transfer/kv_connector/v1/nixl)",
        questions=(BLOCK_IDS, EXPIRY, LATE_READS, LEASE),
    ),
}
