"""The names that engines have for one KV type, made one: what is compared, never what is shown."""

from __future__ import annotations

_ONE_NAME = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp8": "fp8_e4m3"} | {
    f"float8_{kind}{end}": f"fp8_{kind}" for kind in ("e4m3", "e5m2") for end in ("", "fn")
}
"""SGLang's settings, its log and vLLM name one type differently; vLLM's `fp8` is e4m3."""


def one_name(kv_type: str) -> str:
    """`float8_e4m3fn` as `fp8_e4m3`, `bf16` as `bfloat16`; any other name as it is."""
    return _ONE_NAME.get(kv_type, kv_type)
