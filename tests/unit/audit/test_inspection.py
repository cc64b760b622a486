"""From targets to a verdict: what was looked at, what was not, and what a broken rule costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kvfence.audit import inspect
from kvfence.audit.catalogue import cards
from kvfence.audit.deployment import Deployment
from kvfence.audit.pages import index, page
from kvfence.audit.registry import RULES
from kvfence.audit.rule import Rule, RuleModule
from kvfence.errors import UsageError
from kvfence.facts.fact import FACT_NAMES
from kvfence.findings.finding import Finding
from kvfence.findings.verdict import Verdict
from support.audit_logs import CELL_START, HEADLINE, INCIDENT, UNIFIED, audited

CHECKS = "I1,I2-count,I2-digest,I3,I4,I5"
ARGS = "[2026-12-01 10:00:00] server_args=ServerArgs(disaggregation_mode='{}')"
VLLM_POOL = "GPU KV cache size: 9,000 tokens, Maximum concurrency for 2,048 tokens per request: 4.39x"
NIXL = "Creating v1 connector with name: NixlConnector and engine_id: x"
PAGES = Path(__file__).parents[3] / "docs" / "rules"


def _cell(role: str, pool: int = 1536) -> str:
    return CELL_START.format(role=role, rules="fenced", pool=pool, checks=CHECKS)


@pytest.mark.parametrize(
    ("logs", "verdict"),
    [
        ((f"{UNIFIED}\n{HEADLINE.format(rank='', pool=512, context=512)}",), Verdict.CLEAN),
        ((f"{ARGS.format('null')}\n{HEADLINE.format(rank='', pool=512, context=512)}",), Verdict.CLEAN),
        ((HEADLINE.format(rank="", pool=512, context=512),), Verdict.UNKNOWN),
        (("INFO 02-19 23:56:55 kv_cache_utils.py:524] " + VLLM_POOL,), Verdict.CLEAN),
        (
            (f"INFO 02-19 23:56:55 factory.py:1] {NIXL}\nINFO 02-19 23:56:55 kv_cache_utils.py:5] {VLLM_POOL}",),
            Verdict.UNKNOWN,
        ),
        ((HEADLINE.format(rank="", pool=511, context=512),), Verdict.FOUND),
        ((_cell("prefill"), _cell("decode")), Verdict.CLEAN),
        ((_cell("prefill"),), Verdict.CLEAN),
        ((_cell("decode"),), Verdict.UNKNOWN),
        (("INFO [kv_cache_utils.py:1] GPU KV cache size: 900 tokens",), Verdict.UNKNOWN),
        (("nothing of the kind",), Verdict.UNKNOWN),
        ((_cell("prefill"), "nothing of the kind"), Verdict.UNKNOWN),
        ((_cell("prefill"), HEADLINE.format(rank="", pool=511, context=512), "nothing"), Verdict.FOUND),
    ],
)
def test_a_verdict_is_clean_only_when_all_that_decides_was_seen(
    tmp_path: Path, logs: tuple[str, ...], verdict: Verdict
):
    """A missing context or role, a decode without its prefill, a text of something else: none of them is clean."""
    assert audited(tmp_path, *logs).verdict is verdict


def test_every_node_tells_every_fact_by_name(tmp_path: Path):
    """Unknown facts are there and None; known ones have a source."""
    (node,) = audited(tmp_path, HEADLINE.format(rank="", pool=512, context=512)).nodes
    assert tuple(node.facts) == FACT_NAMES
    assert node.facts["engine_version"] is None
    assert {name for name, value in node.facts.items() if value is not None} == set(node.sources)


def test_text_from_a_log_is_cut_and_masked_wherever_it_is_shown(tmp_path: Path):
    """A setting's text of a thousand characters, a control character or a secret is shown as evidence is."""
    command = "python -m sglang.launch_server --model-path /m?token=hf_abcdefghijk\x07" + "9" * 1000 + " --tp 2\n"
    (node,) = audited(tmp_path, command).nodes
    shown = [str(node.facts["model"]), *(seen.text for seen in node.sources.values())]
    assert max(map(len, shown)) < 250
    assert all(text.isprintable() and "hf_abcdefghijk" not in text for text in shown)


def test_findings_come_worst_first():
    """A critical finding stands before a medium one."""
    result = inspect([INCIDENT / "sglang-0.5.19-prefill.log", INCIDENT / "sglang-0.5.19-decode.log"])
    severities = [finding.severity for finding in result.findings]
    assert severities == sorted(severities, key=["critical", "high", "medium", "low", "info"].index)
    assert {finding.rule for finding in result.findings} == {
        "pool-below-context",
        "asymmetric-pools",
        "refused-prompts-seen",
        "affected-version",
        "headroom-below-factor",
        "checks-off",
    }


def test_equal_names_in_two_files_are_told_apart(tmp_path: Path):
    """Two nodes of one name from two files carry their files' names."""
    text = "[pod/llm-0/s] " + HEADLINE.format(rank="", pool=512, context=512)
    names = [node.name for node in audited(tmp_path, text, text).nodes]
    assert names == [f"llm-0 ({tmp_path}/node0.log)", f"llm-0 ({tmp_path}/node1.log)"]


def test_a_rule_that_fails_has_said_nothing(tmp_path: Path):
    """A rule that raises makes the verdict unknown, and is named."""

    def check(_deployment: Deployment) -> Iterator[Finding]:
        raise ZeroDivisionError

    broken = Rule.of(cast("RuleModule", SimpleNamespace(ID="broken", CODE="KVF999", check=check, __doc__="Broken.")))
    path = tmp_path / "a.log"
    path.write_text(HEADLINE.format(rank="", pool=512, context=512))
    result = inspect([path], rules=[broken])
    assert result.verdict is Verdict.UNKNOWN
    assert "broken" in {gap.what.removeprefix("rule ") for gap in result.not_checked}


@pytest.mark.parametrize("again", ["{folder}/./prefill.log", "{folder}", "{folder}/*.log", "{folder}/link.txt"])
@pytest.mark.parametrize("folder_first", [True, False])
def test_a_log_that_is_named_twice_is_one_node(tmp_path: Path, again: str, *, folder_first: bool):
    """However it is spelt, and whether its folder, a pattern or a link stands for it: each finding once."""
    log = tmp_path / "prefill.log"
    log.write_text(HEADLINE.format(rank="", pool=512, context=1024))
    other = again.format(folder=tmp_path)
    if other.endswith("link.txt"):
        (tmp_path / "link.txt").symlink_to(log)
    targets = [other, str(log)] if folder_first else [str(log), other]
    result = inspect(targets)
    assert len(result.nodes) == 1
    assert sum(finding.rule == "pool-below-context" for finding in result.findings) == 1


def test_two_files_of_one_stem_are_called_by_the_whole_of_their_names(tmp_path: Path):
    """`prefill#1` would not say which of them is meant, and is what an earlier start is called."""
    for ending in ("log", "txt"):
        (tmp_path / f"prefill.{ending}").write_text(HEADLINE.format(rank="", pool=512, context=1024))
    assert sorted(node.name for node in inspect([tmp_path]).nodes) == ["prefill.log", "prefill.txt"]


def test_standard_input_is_named_once():
    """Nothing named, or standard input twice, is wrong use."""
    for targets in ([], ["-", "-"]):
        with pytest.raises(UsageError):
            inspect(targets)


def test_every_rule_has_its_page_and_every_page_its_rule():
    """The pages are the rules' docstrings, word for word; `python -m kvfence.audit.pages docs/rules` writes them."""
    wanted = {f"{card.id}.md": page(card) for card in cards()} | {"README.md": index()}
    assert {path.name: path.read_text("utf-8") for path in PAGES.glob("*.md")} == wanted


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_named_like_its_file_and_says_all(rule: Rule):
    """An id is its file's name, and its page says what it says, why it matters, how bad it is, and what ends it."""
    assert rule.module.__name__.rpartition(".")[2] == rule.id.replace("-", "_")  # type: ignore[attr-defined]  # a module has a name
    for heading in ("## What it says", "## Why it matters", "## How bad", "## What ends it"):
        assert heading in rule.page
    assert rule.title.endswith(".")
