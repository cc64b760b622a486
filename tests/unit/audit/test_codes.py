"""Rules keep their names: a code is well formed, of one rule, and never handed on."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from kvfence.audit import inspect
from kvfence.audit.catalogue import card_of, cards
from kvfence.audit.registry import RULES
from kvfence.errors import UsageError
from kvfence.report.audit_json import document
from support.audit_logs import CORPUS, INCIDENT
from support.programs import assert_one_clear_line, run_kvfence

CODE = re.compile(r"KVF[1-8]\d\d")
ISSUED = [
    tuple(line.split())
    for line in (CORPUS / "rule-codes.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def test_every_rule_stands_in_the_list_of_issued_codes():
    """The list and the catalogue tell the same rules, but for those that are retired."""
    assert sorted((card.code, card.id) for card in cards()) == sorted(line[:2] for line in ISSUED if len(line) == 2)


def test_no_code_and_no_id_was_ever_given_twice():
    """What is retired does not come back for another rule."""
    for column in (0, 1):
        assert [name for name, count in Counter(line[column] for line in ISSUED).items() if count > 1] == []


@pytest.mark.parametrize("line", ISSUED, ids=lambda line: line[0])
def test_a_code_is_well_formed(line: tuple[str, ...]):
    """KVF and three figures, of which the first names a kind."""
    assert CODE.fullmatch(line[0])
    assert line[2:] in {(), ("retired",)}


def test_a_finding_in_json_has_its_id_and_its_code():
    """Both names stand in the document, and belong together."""
    found = document(inspect(sorted(INCIDENT.glob("*.log"))))["findings"]
    assert found
    assert {(finding["code"], finding["rule"]) for finding in found} <= {(rule.code, rule.id) for rule in RULES}


@pytest.mark.parametrize("name", ["KVF101", "kvf101", "pool-below-context", "Pool_Below_Context"])
def test_a_rule_is_found_by_either_name(name: str):
    """Code or id, in any case."""
    assert card_of(name).id == "pool-below-context"


@pytest.mark.parametrize(
    ("name", "nearest"), [("KVF1011", "KVF101"), ("pool-below-contxt", "KVF101"), ("checks", "KVF201")]
)
def test_an_unknown_name_is_told_with_the_nearest(name: str, nearest: str):
    """Whoever mistypes a code is told which one there is."""
    with pytest.raises(UsageError, match=nearest):
        card_of(name)


def test_explain_prints_the_page_of_a_rule():
    """The page on standard output is the rule's docstring, word for word."""
    ran = run_kvfence("explain", "kvf101")
    card = card_of("KVF101")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{card.code} {card.id}\n\n{card.page}\n"


def test_explain_without_a_name_lists_every_rule():
    """Each code stands there with its id."""
    ran = run_kvfence("explain")
    assert ran.code == 0
    for card in cards():
        assert re.search(rf"^ *{card.code} +{card.id} ", ran.out, re.MULTILINE)


def test_explain_of_an_unknown_rule_is_one_line():
    """Exit 2, and the nearest is named."""
    assert_one_clear_line(run_kvfence("explain", "KVF999\x1b[2J"), "KVF", "lists all")


def test_an_advisory_is_explained_by_its_id():
    """The id that a finding prints, with or without its mark and whatever its case."""
    for name in ("x_KVFENCE-2026-0002", "kvfence-2026-0002"):
        card = card_of(name)
        assert (card.code, card.id) == ("KVF302", "x_KVFENCE-2026-0002")
        assert "fixed in 0.5.22" in card.page
        assert "https://github.com/sgl-project/sglang/" in card.page


def test_what_is_near_nothing_has_no_nearest():
    """An invariant's name is no rule's."""
    with pytest.raises(UsageError) as raised:
        card_of("I3")
    assert "nearest" not in str(raised.value)
