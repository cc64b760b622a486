"""The story as a document, as a summary on the terminal, and as a page."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

import kvfence
from kvfence.cell.ablation import ALONE, Trial
from kvfence.demo.incident import Act
from kvfence.demo.story import Story
from kvfence.report import audit_json, probe_json
from kvfence.report.html_page import Markup, escape, render_page
from kvfence.report.probe_json import SCHEMA, Document

LAYERS = (
    "I1: a refusal is a type, and ends the request. I2: no read without a seal. I3: pages drain before they are given "
    "away. I4: a lease has an epoch. I5: pages are cleared before they change tenant."
)
"""What the columns of the ablation are, for a reader of the terminal."""


def document(story: Story) -> Document:
    """What `kvfence demo --format json` writes."""
    return {
        "schema": SCHEMA,
        "size": story.size,
        "context_length": story.lengths.context,
        "prefill_pool_tokens": story.lengths.prefill_pool,
        "placeholder": _act(story.placeholder),
        "fenced": _act(story.fenced),
        "ablation": [
            {
                "fault": trial.fault,
                "only": trial.only,
                "leaked": trial.leaked,
                "wrong_answer": trial.wrong_answer,
                "runs": [
                    {
                        "timing": run.timing,
                        "status": run.status,
                        "secrets": len(run.secrets),
                        "wrong_answer": run.wrong_answer,
                        "oracle_saw": run.oracle_saw,
                    }
                    for run in trial.tried
                ],
            }
            for trial in story.ablation
        ],
        "seconds": round(story.seconds, 2),
        "as_promised": story.as_promised,
    }


def html(story: Story) -> str:
    """The page that a security lead can forward."""
    return render_page(
        "demo.html",
        version=kvfence.__version__,
        story=story,
        columns=list(ALONE),
        rows=_rows(story),
        highlighted=_highlighted,
    )


def show(story: Story, console: Console) -> None:
    """The summary."""
    for act in (story.placeholder, story.fenced):
        _show_act(act, console)
    table = Table(title="Which layer stops which fault (every cell was run)", title_justify="left", title_style="bold")
    table.add_column("fault")
    for name in ALONE:
        table.add_column({"none": "all off", "all": "all on"}.get(name, f"{name} alone"), justify="center")
    for fault, trials in _rows(story):
        table.add_row(fault, *(_mark(trial) for trial in trials))
    console.print(table)
    console.print(LAYERS, style="dim")


def _show_act(act: Act, console: Console) -> None:
    style = "bold red" if act.leaked else "bold green"
    outcome = f"LEAK: {len(act.secrets_leaked)} of A's secrets in B's answer" if act.leaked else "no leak"
    console.print(
        Text.assemble(("rules ", "dim"), (act.rules, "bold"), f"  status {act.asker.status}  ", (outcome, style))
    )
    said = act.foreign_text or act.asker.error
    console.print(Text(f"  B got: {' '.join(said.split())[:160]}"))
    for finding in act.audit.findings[:2]:
        console.print(Text.assemble("  audit: ", (finding.rule, "bold"), f" {finding.message}"))
    console.print(Text(f"  probe: {act.probe.verdict}: {act.probe.reason}"))


def _rows(story: Story) -> list[tuple[str, list[Trial]]]:
    rows: dict[str, dict[str, Trial]] = {}
    for trial in story.ablation:
        rows.setdefault(trial.fault, {})[trial.only] = trial
    return [(fault, [trials[name] for name in ALONE]) for fault, trials in rows.items()]


def _mark(trial: Trial) -> Text:
    if trial.leaked:
        return Text("leak", "bold red")
    return Text("wrong answer", "yellow") if trial.wrong_answer else Text("stopped", "green")


def _highlighted(act: Act) -> Markup:
    """B's answer with A's secrets marked; everything else escaped."""
    text = escape(act.asker.text)
    for secret in act.secrets_leaked:
        text = Markup(str(text).replace(str(escape(secret)), f"<mark>{escape(secret)}</mark>"))
    return text


def _act(act: Act) -> Document:
    return {
        "leaked": act.leaked,
        "status": act.asker.status,
        "prompt_tokens": act.asker_prompt_tokens,
        "secrets_leaked": len(act.secrets_leaked),
        "foreign_text_chars": len(act.foreign_text),
        "error": act.asker.error,
        "control_right": act.victim_right,
        "oracle_saw": act.oracle_saw,
        "pages_read": len(act.pages_read),
        "pages_read_of_others": sum(owner == "A" for owner in act.pages_read),
        "audit": audit_json.document(act.audit),
        "probe": probe_json.document(act.probe),
        "seconds": round(act.seconds, 2),
    }
