"""`kvfence serve`: the cell. Options are turned into one frozen config here, and nowhere below."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kvfence.core.rules import NAMED


class Model(StrEnum):
    """Models that the cell can serve."""

    INDUCTION = "induction"


TOKENS_MAX = 2**40
"""More than any memory; less is a matter of how much there is."""


def serve(
    model: Annotated[Model, typer.Argument(help="The model to serve; `induction` is built in.")],
    *,
    rules: Annotated[
        str, typer.Option(help=f"How pages are handled: {', '.join(NAMED)}. All but fenced are how engines were.")
    ] = "fenced",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.", min=0, max=65535)] = 8000,
    context: Annotated[
        int, typer.Option(help="Context length that is promised, in tokens.", min=1, max=TOKENS_MAX)
    ] = 32768,
    prefill_pool: Annotated[
        int | None,
        typer.Option(help="Prefill's KV pool in tokens; default: 65 % of the context.", min=1, max=TOKENS_MAX),
    ] = None,
    decode_pool: Annotated[
        int | None, typer.Option(help="Decode's KV pool in tokens; default: twice the context.", min=1, max=TOKENS_MAX)
    ] = None,
    page_size: Annotated[int, typer.Option(help="Token slots a page.", min=1, max=TOKENS_MAX)] = 64,
    wire: Annotated[str | None, typer.Option(help="push, two-sided or pull; default: as the rules were seen.")] = None,
    reuse: Annotated[str, typer.Option(help="Which free page is handed out next: lifo or fifo.")] = "lifo",
    workers: Annotated[str, typer.Option(help="Workers as `thread` or as `process`.")] = "thread",
    wire_delay: Annotated[
        float, typer.Option(help="Longest time a transfer takes, in ms; each takes a random part of it.", min=0)
    ] = 0.0,
    lease: Annotated[float, typer.Option(help="Seconds that prefill keeps pages for a pull.", min=0)] = 30.0,
    handoff_timeout: Annotated[
        float, typer.Option(help="Seconds that decode waits for prefill before it gives up.", min=0)
    ] = 300.0,
    taint: Annotated[
        str, typer.Option(help="Shadow every slot: `raise` stops at the first foreign read, `record` counts them.")
    ] = "off",
) -> None:
    """Serve a model with prefill and decode on separate workers, behind an OpenAI-compatible API.

    Example: kvfence serve induction --rules placeholder --port 8000
    """
    from kvfence.cli.cell_options import CellOptions, serve_cell  # noqa: PLC0415 — the server loads only when it serves

    options = CellOptions(
        model=model.value,
        rules=rules,
        context=context,
        prefill_pool=prefill_pool,
        decode_pool=decode_pool,
        page_size=page_size,
        wire=wire,
        reuse=reuse,
        workers=workers,
        taint=taint,
        wire_delay_s=wire_delay / 1000,
        lease_s=lease,
        handoff_timeout_s=handoff_timeout,
    )
    serve_cell(options, host=host, port=port)
