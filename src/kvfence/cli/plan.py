"""`kvfence plan`: how many tokens the pool will hold, and what to change. Options and exit codes only."""

from __future__ import annotations

from pathlib import Path

import typer

from kvfence.cli import plan_options as given
from kvfence.cli.output import Format, check_writable, exit_code, people_console, report_to, write_json
from kvfence.findings.forecast import Forecast
from kvfence.plan import Engine, KvDtype, Measured, Model, Role, Setting, gpu_of, read, release_of
from kvfence.plan import plan as made_plan
from kvfence.report.plan_json import document
from kvfence.report.plan_terminal import print_plan


def plan(
    model: given.ConfigFile,
    *,
    gpu: given.GpuName,
    count: given.PerNode = 8,
    nodes: given.Nodes = 1,
    engine: given.EngineName = Engine.SGLANG,
    engine_version: given.EngineVersion = None,
    role: given.RoleName = Role.UNIFIED,
    tp: given.Tp = None,
    dp: given.Dp = 1,
    pp: given.Pp = 1,
    kv_dtype: given.KvType = KvDtype.AUTO,
    mem_fraction: given.Fraction = None,
    context_length: given.Context = None,
    fit: given.Fit = None,
    weights_gib: given.WeightsGib = None,
    draft: given.Draft = None,
    draft_layers: given.DraftLayers = 0,
    draft_tokens: given.DraftTokens = 0,
    page_size: given.Page = None,
    chunk: given.Chunk = None,
    running: given.Running = None,
    max_total_tokens: given.Cap = None,
    swa_ratio: given.SwaRatio = None,
    mamba_ratio: given.MambaRatio = 0.9,
    no_hybrid: given.NoHybrid = False,
    no_radix: given.NoRadix = False,
    kv_bytes_per_token: given.TokenBytes = None,
    free_before_gib: given.FreeBefore = None,
    free_after_gib: given.FreeAfter = None,
    available_kv_gib: given.AvailableKv = None,
    output_format: given.Written = Format.TABLE,
    output: given.Output = None,
    exit_zero: given.ExitZero = False,
) -> None:
    """How many tokens will the KV pool hold, does the context fit, and what is the smallest change if not?

    Nothing is downloaded and nothing is started: a config.json and a GPU's name are enough. Exit codes: 0 it fits,
    1 it does not, 2 the config or the setting cannot be counted, 3 it cannot be told (the need lies between the low
    and the high forecast).

    Example: kvfence plan ./DeepSeek-V3 --gpu h200 --count 8 --tp 8 --mem-fraction 0.88 --role prefill --fit 163840x2
    """
    check_writable(output)
    copies = dp if engine is Engine.VLLM else 1
    setting = Setting(
        engine=engine,
        gpu=gpu_of(gpu),
        per_node=count,
        nodes=nodes,
        tp=tp or max(count * nodes // pp // copies, 1),
        dp=dp,
        pp=pp,
        kv_dtype=kv_dtype,
        release=None if engine_version is None else release_of(engine_version),
        fraction=mem_fraction,
        role=role,
        page_size=page_size,
        context=context_length,
        chunk=chunk,
        running=running,
        pool_cap=max_total_tokens,
        swa_ratio=swa_ratio,
        mamba_ratio=mamba_ratio,
        hybrid=not no_hybrid,
        radix=not no_radix,
        draft_layers=draft_layers,
        draft_tokens=draft_tokens,
        measured=Measured(free_before_gib, free_after_gib, available_kv_gib),
    )
    other = None if draft is None else read(draft)
    served = Model(config=read(model), draft=other, weights_gib=weights_gib, token_bytes=kv_bytes_per_token)
    forecast = made_plan(served, setting, given.need_of(fit))
    _report(forecast, output_format, output)
    raise typer.Exit(exit_code(forecast.verdict, exit_zero=exit_zero))


def _report(forecast: Forecast, output_format: Format, output: Path | None) -> None:
    machine = output_format is Format.JSON
    if machine:
        write_json(document(forecast), output)
    else:
        report_to(lambda console: print_plan(forecast, console), output)
    print_plan(forecast, people_console(machine_on_stdout=machine and output is None))
