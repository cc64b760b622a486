"""`kvfence audit --source` as it is run: exit codes, the table, JSON."""

from __future__ import annotations

import json

import pytest

from support.audit_logs import HEADLINE
from support.engine_trees import PREFILL, SGLANG, laid_out, unfixed
from support.programs import assert_one_clear_line, run_kvfence


def test_a_tree_alone_is_enough_and_its_verdict_is_the_exit_code(tmp_path):
    """Every gate there is clean, none is found, a broken file is inconclusive; no log is needed."""
    trees = {"fixed": SGLANG, "unfixed": unfixed(), "broken": {**SGLANG, PREFILL: "x = ("}}
    codes = {
        name: run_kvfence("audit", "--source", str(laid_out(tmp_path / name, tree))).code
        for name, tree in trees.items()
    }
    assert codes == {"fixed": 0, "unfixed": 1, "broken": 3}


def test_the_report_tells_every_fix_with_its_place(tmp_path):
    """JSON holds each verdict with file and line; the finding has the same evidence."""
    site = laid_out(tmp_path, unfixed())
    report = json.loads(run_kvfence("audit", "--source", str(site), "--format", "json").out)
    (tree,) = report["trees"]
    assert (tree["engine"], tree["version_said"]) == ("sglang", "0.5.99")
    absent = {fix["fix"]: fix["evidence"] for fix in tree["fixes"] if fix["verdict"] == "absent"}
    (worst, *_) = report["findings"]
    assert (worst["rule"], worst["code"], worst["severity"]) == ("fix-absent", "KVF301", "critical")
    assert worst["evidence"] == [absent["prefill-door"]]
    assert absent["prefill-door"]["file"] == f"{site}/sglang/{PREFILL}"


@pytest.mark.parametrize("name", ["absent", "text.txt"])
def test_a_source_that_is_none_is_wrong_use(tmp_path, name):
    """One clear line and exit 2."""
    (tmp_path / "text.txt").write_text("hello")
    assert_one_clear_line(run_kvfence("audit", "--source", str(tmp_path / name)), name)


def test_a_folder_without_an_engine_is_inconclusive(tmp_path):
    """Nothing was looked at, so nothing is clean; also beside a clean log."""
    (tmp_path / "a.log").write_text(HEADLINE.format(rank="", pool=512, context=512) + "\n")
    (tmp_path / "empty").mkdir()
    source = ("--source", str(tmp_path / "empty"))
    assert [run_kvfence("audit", *log, *source).code for log in ((), (str(tmp_path / "a.log"),))] == [3, 3]
