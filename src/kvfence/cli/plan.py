"""`kvfence plan`: how many tokens the pool will hold, and what to change. Options and exit codes only."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kvfence.cli.output import PIPE_COLUMNS, Format, check_writable, exit_code, people_console, write_json, write_text
from kvfence.errors import UsageError
from kvfence.plan import Engine, KvDtype, Measured, Model, Need, Role, Setting, gpu_of, read
from kvfence.plan import plan as made_plan
from kvfence.report.plan_json import document
from kvfence.report.plan_terminal import print_plan

NEED = re.compile(r"(\d{1,12})(?:[xX*](\d{1,6}))?\Z")


def plan(
    model: Annotated[str, typer.Argument(metavar="MODEL_CONFIG", help="A model's config.json, or its folder.")],
    *,
    gpu: Annotated[str, typer.Option(help="Kind of GPU, such as h200; or its memory, as mib=81559.")],
    count: Annotated[int, typer.Option(help="GPUs of a node.", min=1, max=1024)] = 8,
    nodes: Annotated[int, typer.Option(help="Nodes of one worker.", min=1, max=1024)] = 1,
    engine: Annotated[Engine, typer.Option(help="Whose arithmetic.")] = Engine.SGLANG,
    role: Annotated[Role, typer.Option(help="What the worker does.")] = Role.UNIFIED,
    tp: Annotated[int | None, typer.Option(help="Tensor parallelism; all GPUs if not given.", min=1)] = None,
    dp: Annotated[
        int, typer.Option(help="Data parallelism: SGLang's DP attention inside tp, vLLM's copies.", min=1)
    ] = 1,
    pp: Annotated[int, typer.Option(help="Pipeline parallelism.", min=1)] = 1,
    kv_dtype: Annotated[KvDtype, typer.Option(help="Type of keys and values.")] = KvDtype.AUTO,
    mem_fraction: Annotated[
        float | None,
        typer.Option(help="--mem-fraction-static or --gpu-memory-utilization; the engine's own if not given."),
    ] = None,
    context_length: Annotated[
        int | None, typer.Option(help="What is promised; the config's if not given.", min=1)
    ] = None,
    fit: Annotated[
        str | None, typer.Option(metavar="CONTEXTxREQUESTS", help="What must be held at once, as 1048576x2.")
    ] = None,
    weights_gib: Annotated[
        float | None, typer.Option(help="All weights; else an index beside the config, else counted.")
    ] = None,
    draft: Annotated[str | None, typer.Option(metavar="CONFIG", help="Config of a draft model.")] = None,
    draft_layers: Annotated[int, typer.Option(help="Built-in draft layers that are used (MTP, NEXTN).", min=0)] = 0,
    page_size: Annotated[int | None, typer.Option(help="--page-size or --block-size.", min=1)] = None,
    chunk: Annotated[
        int | None, typer.Option(help="--chunked-prefill-size or --max-num-batched-tokens.", min=1)
    ] = None,
    running: Annotated[int | None, typer.Option(help="--max-running-requests or --max-num-seqs.", min=1)] = None,
    max_total_tokens: Annotated[int | None, typer.Option(help="SGLang's cap of the pool.", min=1)] = None,
    swa_ratio: Annotated[float | None, typer.Option(help="SGLang's --swa-full-tokens-ratio.")] = None,
    mamba_ratio: Annotated[float, typer.Option(help="SGLang's --mamba-full-memory-ratio.")] = 0.9,
    no_hybrid: Annotated[bool, typer.Option("--no-hybrid", help="Windows are kept in full.")] = False,
    no_radix: Annotated[bool, typer.Option("--no-radix", help="Prefixes are not cached.")] = False,
    kv_bytes_per_token: Annotated[
        int | None, typer.Option(help="Of one token on one GPU, where the model's family is not known.", min=1)
    ] = None,
    free_before_gib: Annotated[
        float | None, typer.Option(help="From a log: SGLang's 'Load weight begin. avail mem'.")
    ] = None,
    free_after_gib: Annotated[
        float | None, typer.Option(help="From a log: SGLang's 'Load weight end … avail mem'.")
    ] = None,
    available_kv_gib: Annotated[
        float | None, typer.Option(help="From a log: vLLM's 'Available KV cache memory'.")
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="A table for people, or JSON.")] = Format.TABLE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report here; the table is printed as well.")
    ] = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if it does not fit.")] = False,
) -> None:
    """How many tokens will the KV pool hold, does the context fit, and what is the smallest change if not?

    Nothing is downloaded and nothing is started: a config.json and a GPU's name are enough. Exit codes: 0 it fits,
    1 it does not, 2 the config or the setting cannot be counted, 3 it cannot be told (the need lies between the low
    and the high forecast).

    Example: kvfence plan ./DeepSeek-V3 --gpu h200 --count 8 --tp 8 --mem-fraction 0.88 --role prefill --fit 163840x2
    """
    check_writable(output)
    setting = Setting(
        engine=engine,
        gpu=gpu_of(gpu),
        per_node=count,
        nodes=nodes,
        tp=tp or max(count * nodes // pp // (dp if engine is Engine.VLLM else 1), 1),
        dp=dp,
        pp=pp,
        kv_dtype=kv_dtype,
        fraction=_share("--mem-fraction", mem_fraction),
        role=role,
        page_size=page_size,
        context=context_length,
        chunk=chunk,
        running=running,
        pool_cap=max_total_tokens,
        swa_ratio=_share("--swa-ratio", swa_ratio),
        mamba_ratio=_above("--mamba-ratio", mamba_ratio) or 0.9,
        hybrid=not no_hybrid,
        radix=not no_radix,
        draft_layers=draft_layers,
        measured=Measured(
            free_before_gib=_above("--free-before-gib", free_before_gib),
            free_after_gib=_above("--free-after-gib", free_after_gib),
            available_kv_gib=_above("--available-kv-gib", available_kv_gib),
        ),
    )
    served = Model(
        config=read(model),
        draft=None if draft is None else read(draft),
        weights_gib=_above("--weights-gib", weights_gib),
        token_bytes=kv_bytes_per_token,
    )
    forecast = made_plan(served, setting, None if fit is None else _need(fit))
    machine = output_format is Format.JSON
    if machine:
        write_json(document(forecast), output)
    elif output is not None:
        page = io.StringIO()
        print_plan(forecast, Console(file=page, width=PIPE_COLUMNS))
        write_text(page.getvalue(), output)
    print_plan(forecast, people_console(machine_on_stdout=machine and output is None))
    raise typer.Exit(exit_code(forecast.verdict, exit_zero=exit_zero))


def _need(text: str) -> Need:
    found = NEED.match(text.replace("_", "").replace(",", ""))
    if not found or not int(found[1]) or found[2] == "0":
        raise UsageError(f"--fit {text}: give context times requests, as 1048576x2")
    return Need(context=int(found[1]), requests=int(found[2] or 1))


def _share(option: str, value: float | None) -> float | None:
    if value is not None and not 0 < value <= 1:
        raise UsageError(f"{option} {value}: it must be above 0 and not above 1")
    return value


def _above(option: str, value: float | None) -> float | None:
    if value is not None and not 0 < value < float(1 << 20):
        raise UsageError(f"{option} {value}: it must be above 0")
    return value
