"""The options of `kvfence probe` by name: what each is and which values it takes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kvfence.errors import UsageError
from kvfence.probe.boundaries import MULTIPLE_NEAR_TOKENS
from kvfence.probe.facts_file import KnownLengths
from kvfence.probe.prompts import DEPTHS_MAX
from kvfence.probe.target import LONGEST, Bounds
from kvfence.report.probe_formats import ProbeFormat

Url = Annotated[
    str | None,
    typer.Argument(help="Base of an OpenAI-compatible API, such as http://127.0.0.1:8000/v1.", show_default=False),
]
Model = Annotated[str | None, typer.Option(help="Model to probe; default: the first one listed.")]
Context = Annotated[int | None, typer.Option(help="Declared context in tokens, if not listed.", min=1, max=LONGEST)]
LimitsKnown = Annotated[
    list[int] | None, typer.Option(help="A length where something may change, such as a pool's size; repeatable.")
]
Repeats = Annotated[
    int,
    typer.Option(
        help="How often to ask for each length, at least; what is wrong is asked for again anyway.", min=1, max=100_000
    ),
]
Lengths = Annotated[list[int] | None, typer.Option(help="Ask only these prompt lengths; repeatable.")]
FactsFile = Annotated[
    Path | None,
    typer.Option(
        "--facts", help="What `kvfence audit --format json` wrote: its pools, limits and pages are asked around."
    ),
]
MultipleOf = Annotated[
    list[int] | None,
    typer.Option(help="Size of a page or chunk: lengths around a multiple are asked; repeatable. Without it: 8192."),
]
Bisections = Annotated[int, typer.Option(help="Lengths asked beyond the plan, to close in on where it turns.", min=0)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan, its cost and its time, and send nothing.")]
ApiKeyEnv = Annotated[
    list[str] | None,
    typer.Option(help="Variable with an API key; give it twice for two tenants (seeding, then harvesting)."),
]
Depths = Annotated[
    int, typer.Option(help="How many markers each prompt carries, from its start to its end.", min=1, max=DEPTHS_MAX)
]
TokenizerFile = Annotated[
    Path | None,
    typer.Option(help="A tokenizer.json to count prompts with, where the endpoint does not (extra `tokenizer`)."),
]
Completions = Annotated[bool, typer.Option("--completions", help="Use /completions, not chat.")]
MaxRequests = Annotated[int, typer.Option(help="Never send more requests than this.", min=2)]
BudgetTokens = Annotated[int | None, typer.Option(help="Never spend more tokens, prompts and answers together.", min=1)]
BudgetUsd = Annotated[float | None, typer.Option(help="Never spend more US dollars; needs prices.", min=0)]
MaxRps = Annotated[float | None, typer.Option(help="Never send more requests a second.", min=0.001, max=10_000)]
Concurrency = Annotated[int, typer.Option(help="Never have more requests under way at once.", min=1, max=1024)]
PriceIn = Annotated[float | None, typer.Option(help="US dollars for a million prompt tokens.", min=0)]
PriceOut = Annotated[float | None, typer.Option(help="US dollars for a million answer tokens.", min=0)]
PriceFile = Annotated[
    Path | None, typer.Option(help='TOML with prices by model: ["name"], then in = and out = for a million tokens.')
]
Timeout = Annotated[float, typer.Option(help="Seconds to wait for one answer.", min=0.1, max=86_400)]
Seed = Annotated[int | None, typer.Option(help="Repeat the prompts of an earlier run.")]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        help="Record the campaign in this file (with --providers: a folder of files); one that was cut off goes on "
        "from it, asking nothing twice."
    ),
]
RegistryOfMarkers = Annotated[
    Path | None,
    typer.Option(
        "--registry",
        help="Remember every marker in this file, before it is sent, and know those of other campaigns by it.",
    ),
]
OutputFormat = Annotated[
    ProbeFormat, typer.Option("--format", help="A table for people, or a report for a machine or a reader.")
]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Write the report here; the table is printed too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell how far it is; the table is printed.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 even if something was found; 2 and 3 stay.")]


def positive(option: str, lengths: list[int] | None) -> tuple[int, ...]:
    """Lengths in tokens. Raises `UsageError` for one that no prompt can have."""
    for tokens in lengths or []:
        if not 1 <= tokens <= LONGEST:
            raise UsageError(f"{option} {tokens}: a length in tokens is 1 or more, and at most {LONGEST:,}")
    return tuple(lengths or [])


def with_lengths(
    bounds: Bounds,
    known: KnownLengths | None,
    limits: list[int] | None,
    lengths: list[int] | None,
    multiples: list[int] | None,
) -> Bounds:
    """The bounds with the lengths that matter, and what an audit knows of them. Raises `UsageError` for a wrong one."""
    units = positive("--multiple-of", multiples) or (MULTIPLE_NEAR_TOKENS,)
    return replace(
        bounds,
        limits=positive("--limit", limits),
        known_pool_tokens=known.pool_tokens if known else None,
        boundaries=known.boundaries if known else (),
        multiples=tuple(dict.fromkeys((*(known.pages if known else ()), *units))),
        lengths=positive("--lengths", lengths),
    )


def keys_from(names: list[str]) -> tuple[str | None, str | None]:
    """The two tenants' keys. Raises `UsageError` where a variable has none."""
    keys: list[str] = []
    for name in names:
        value = os.environ.get(name)
        if not value:
            raise UsageError(f"--api-key-env {name}: that variable is not set or empty")
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"--api-key-env {name}: that variable's value has characters that no API key can have")
        keys.append(value)
    match keys:
        case []:
            return None, None
        case [one]:
            return one, one
        case [first, second]:
            return first, second
        case _:
            raise UsageError("--api-key-env can be given once or twice: there are two tenants")
