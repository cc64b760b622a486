"""The options of `kvfence plan`, each with its help; an engine's flag stands there without its dashes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from kvfence.cli.output import Format
from kvfence.errors import UsageError
from kvfence.plan import Engine, KvDtype, Need, Role

NEED = re.compile(r"(\d{1,12})(?:[xX*](\d{1,6}))?\Z", re.ASCII)
GIB_MAX = 1 << 20


def _share(option: typer.CallbackParam, value: float | None) -> float | None:
    if value is not None and not 0 < value <= 1:
        raise UsageError(f"{option.opts[0]} {value}: it must be above 0 and not above 1")
    return value


def _above(option: typer.CallbackParam, value: float | None) -> float | None:
    if value is not None and not 0 < value < GIB_MAX:
        raise UsageError(f"{option.opts[0]} {value}: it must be above 0 and below {GIB_MAX}")
    return value


def need_of(text: str | None) -> Need | None:
    """`1048576x2` as a need; none without a text.

    Raises:
        UsageError: it is not of that form.
    """
    if text is None:
        return None
    found = NEED.match(text.replace("_", "").replace(",", ""))
    if not found or not int(found[1]) or not int(found[2] or 1):
        raise UsageError(f"--fit {text}: give context times requests, as 1048576x2")
    return Need(context=int(found[1]), requests=int(found[2] or 1))


ConfigFile = Annotated[str, typer.Argument(metavar="MODEL_CONFIG", help="A model's config.json, or its folder.")]
GpuName = Annotated[str, typer.Option("--gpu", help="Kind of GPU, such as h200; or its memory, as mib=81559.")]
PerNode = Annotated[int, typer.Option("--count", help="GPUs of a node.", min=1, max=1024)]
Nodes = Annotated[int, typer.Option("--nodes", help="Nodes of one worker.", min=1, max=1024)]
EngineName = Annotated[Engine, typer.Option("--engine", help="Whose arithmetic.")]
EngineVersion = Annotated[
    str | None, typer.Option("--engine-version", help="Of vLLM, as 0.10.2: before 0.17 it keeps more back.")
]
RoleName = Annotated[Role, typer.Option("--role", help="What the worker does.")]
Tp = Annotated[int | None, typer.Option("--tp", help="Tensor parallelism; all GPUs if not given.", min=1)]
Dp = Annotated[int, typer.Option("--dp", help="SGLang: DP attention inside tp. vLLM: copies.", min=1)]
Pp = Annotated[int, typer.Option("--pp", help="Pipeline parallelism.", min=1)]
KvType = Annotated[KvDtype, typer.Option("--kv-dtype", help="Type of keys and values.")]
Fraction = Annotated[
    float | None,
    typer.Option(
        "--mem-fraction", help="SGLang's mem-fraction-static, vLLM's gpu-memory-utilization.", callback=_share
    ),
]
Context = Annotated[int | None, typer.Option("--context-length", help="What is promised, if not the config's.", min=1)]
Fit = Annotated[
    str | None,
    typer.Option("--fit", metavar="CONTEXTxREQUESTS", help="What must be held at once, as 1048576x2."),
]
WeightsGib = Annotated[
    float | None,
    typer.Option("--weights-gib", help="All weights; else the index beside the config, else counted.", callback=_above),
]
Draft = Annotated[str | None, typer.Option("--draft", metavar="CONFIG", help="Config of a draft model.")]
DraftLayers = Annotated[int, typer.Option("--draft-layers", help="Built-in draft layers in use (MTP, NEXTN).", min=0)]
DraftTokens = Annotated[int, typer.Option("--draft-tokens", help="Tokens that are guessed ahead.", min=0)]
Page = Annotated[int | None, typer.Option("--page-size", help="Tokens of a page or block.", min=1)]
Chunk = Annotated[
    int | None,
    typer.Option("--chunk", help="SGLang's chunked-prefill-size, vLLM's max-num-batched-tokens.", min=1),
]
Running = Annotated[
    int | None, typer.Option("--running", help="SGLang's max-running-requests, vLLM's max-num-seqs.", min=1)
]
Cap = Annotated[int | None, typer.Option("--max-total-tokens", help="SGLang's cap of the pool.", min=1)]
SwaRatio = Annotated[float | None, typer.Option("--swa-ratio", help="SGLang's swa-full-tokens-ratio.", callback=_share)]
MambaRatio = Annotated[float, typer.Option("--mamba-ratio", help="SGLang's mamba-full-memory-ratio.", callback=_above)]
NoHybrid = Annotated[bool, typer.Option("--no-hybrid", help="Windows are kept in full.")]
NoRadix = Annotated[bool, typer.Option("--no-radix", help="Prefixes are not cached.")]
TokenBytes = Annotated[
    int | None,
    typer.Option("--kv-bytes-per-token", help="Of one token on one GPU, for a family that is not known.", min=1),
]
FreeBefore = Annotated[
    float | None,
    typer.Option("--free-before-gib", help="A log's 'Load weight begin. avail mem' (SGLang).", callback=_above),
]
FreeAfter = Annotated[
    float | None,
    typer.Option("--free-after-gib", help="A log's 'Load weight end … avail mem' (SGLang).", callback=_above),
]
AvailableKv = Annotated[
    float | None,
    typer.Option(
        "--available-kv-gib",
        help="A log's 'Available KV cache memory' (vLLM), or SGLang's pools' sizes.",
        callback=_above,
    ),
]
Written = Annotated[Format, typer.Option("--format", help="A table for people, or JSON.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the report here; the table is printed as well.")
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if it does not fit.")]
