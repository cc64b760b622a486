"""docs/scan-signs.md, made of what `benchmarks/scan_signs` measured."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

from kvfence.scan.signs.calibration import REPORTED_MIN
from kvfence.scan.signs.catalogue import looks
from support.source_tree import SOURCE

STORED = SOURCE / "scan" / "signs" / "calibration.json"


def page() -> str:
    """The whole page."""
    return "\n".join(_lines(json.loads(STORED.read_text(encoding="utf-8"))))


def _lines(measured: dict[str, Any]) -> Iterator[str]:
    made, lengths = measured["set"], measured["lengths"]
    share = f"{made['lost_share']:.0%}".replace("%", " %")
    yield from (
        "# Signs of lost context",
        "",
        "Written by `make docs` from what `benchmarks/scan_signs` measured. A sign is evidence, never proof: with",
        "signs alone `kvfence scan` says inconclusive. Its score is the share of signs so strong that were right on a",
        f"labelled set in which {share} of the answers had lost their context. Where fewer have, fewer are right:",
        "the last column of the first table says how often a sign is seen where nothing is wrong. A sign whose score",
        f"is below {REPORTED_MIN} is not reported.",
        "",
        "## How often they are right",
        "",
        f"{made['exchanges_a_half']:,} exchanges gave the scores; these figures are of as many others, whose texts,",
        "wordings, names and seed were kept apart. *Cause*: exchanges in which this sign should be seen.",
        "",
        "| sign | reported | right | precision | mean score | cause | seen | recall | false in 1,000 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    )
    for kind, of in measured["held_out"].items():
        figures = (of["precision"], of["score_mean"], of["cause"], of["met"], of["recall"], of["false_per_1000"])
        yield f"| `{kind}` | {of['reported']} | {of['right']} | {' | '.join(map(_shown, figures))} |"
    yield from ("", "## What each looks at", "")
    for kind, look in looks(1).items():
        module = inspect.getmodule(look if inspect.isfunction(look) else type(look))
        yield from (f"### `{kind}`", "", inspect.getdoc(module) or "", "")
    yield from (
        "## By the way in which context was lost",
        "",
        "Exchanges with at least one sign in the answer's text; of right ones, wrongly. `blank` is an answer that asks",
        "for what it has not got; no sign sees it.",
        "",
        "| way | exchanges | with a sign |",
        "| --- | --- | --- |",
        *(f"| {row['way']} | {row['exchanges']} | {row['with_a_sign']} |" for row in measured["by_way"]),
        "",
        "## Lengths",
        "",
        f"Of {lengths['prompts']:,} prompts under five tokenizers: {lengths['bytes_per_token']['least']} to",
        f"{lengths['bytes_per_token']['most']} bytes a token, {lengths['bytes_per_token']['median']} at the median;",
        f"{lengths['fewer_than_the_least']} had fewer tokens than `signs/lengths.py` says is the least.",
        "",
        "## Speed",
        "",
        "MB of prompts and answers a second on one core: "
        + ", ".join(f"`{kind}` {speed:,.0f}" for kind, speed in measured["speed"].items())
        + ".",
        "",
        "## The set, and what it is not",
        "",
        "Real text: translated manuals, catalogues of programs' messages, docstrings and code of Python's standard",
        "library; and two kinds that no score was made of, READMEs of packages and Node's documentation. Around it",
        "stand questions, agents' sessions and letters of our own making. Answers are real text of the same document,",
        "not a model's words: a model that says it in other words shares less with its prompt, so real figures are",
        "worse than these. Names, machines and addresses of people are invented: that a sign sees them shows that it",
        "knows their shape, and only how seldom it errs is measured on real text.",
        "",
        f"Measured on {made['machine']}, seeds {made['seeds'][0]} and {made['seeds'][1]}.",
        "",
        "| text | language | for scores | held out |",
        "| --- | --- | --- | --- |",
        *_of_texts(made["passages"]),
        "",
    )


def _of_texts(rows: list[dict[str, Any]]) -> Iterator[str]:
    counts: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        counts.setdefault((row["genre"], row["language"]), [0, 0])[row["held_out"]] += row["passages"]
    for (genre, language), (making, held_out) in counts.items():
        yield f"| {genre} | {language} | {making:,} | {held_out:,} |"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"
