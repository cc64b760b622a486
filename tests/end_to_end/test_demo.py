import json

import pytest

from support.programs import assert_one_clear_line, run_kvfence

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    ran = run_kvfence("demo", "--format", "json", "-o", "demo.json", cwd=folder)
    assert ran.code == 0, ran
    return ran, json.loads((folder / "demo.json").read_text()), (folder / "kvfence-demo.html").read_text()


def test_the_leak_happens_is_found_and_is_refused(demo):
    """The document: leaked with status 200 under placeholder, a 4xx and a clean probe under fenced."""
    _, report, _ = demo
    assert report["schema"] == 1
    placeholder, fenced = report["placeholder"], report["fenced"]
    assert placeholder["leaked"] is True
    assert placeholder["status"] == 200
    assert placeholder["probe"]["verdict"] == "leak"
    assert placeholder["oracle_saw"] > 0
    assert fenced["leaked"] is False
    assert 400 <= fenced["status"] < 500
    assert fenced["probe"]["verdict"] == "clean"
    assert fenced["oracle_saw"] == 0
    assert str(report["prefill_pool_tokens"]) in fenced["error"]
    assert str(placeholder["prompt_tokens"]) in fenced["error"]


def test_the_audit_names_the_cause(demo):
    """Pool below context, on the prefill worker, from the cell's own log."""
    _, report, _ = demo
    causes = {(finding["rule"], finding["node"]) for finding in report["placeholder"]["audit"]["findings"]}
    assert ("pool-below-context", "prefill-0") in causes


def test_decode_read_one_page_of_its_own_and_many_of_another_tenants(demo):
    """The picture: B's page table under placeholder."""
    _, report, html = demo
    read, others = report["placeholder"]["pages_read"], report["placeholder"]["pages_read_of_others"]
    assert others > 0.5 * read
    assert "of which 1 held B's own text" in html.replace("&#39;", "'")


def test_the_ablation_has_every_cell(demo):
    """Three faults by all off, I1 to I5 alone, all on; two answers each."""
    _, report, _ = demo
    cells = {(cell["fault"], cell["only"]) for cell in report["ablation"]}
    assert len(cells) == len(report["ablation"]) == 21
    assert {"fault": "placeholder", "only": "I1", "leaked": False, "wrong_answer": False}.items() <= next(
        cell for cell in report["ablation"] if (cell["fault"], cell["only"]) == ("placeholder", "I1")
    ).items()


def test_the_page_stands_alone(demo):
    """One file: no script, no style, picture or font from anywhere else."""
    _, _, html = demo
    assert "http://" not in html.replace("http://127.0.0.1", "")
    assert "https://" not in html
    assert "<script" not in html
    assert "LEAK, status 200" in html


def test_an_unknown_size_is_one_clear_line(tmp_path):
    """It lists the sizes that there are."""
    assert_one_clear_line(run_kvfence("demo", "--size", "huge", cwd=tmp_path), "huge", "full")


def test_a_report_that_cannot_be_written_is_told_before_the_work(tmp_path):
    """A folder that does not exist: one line, exit 2, and no minutes lost."""
    ran = run_kvfence("demo", "--html", str(tmp_path / "no" / "where.html"), cwd=tmp_path, timeout=10)
    assert_one_clear_line(ran, "where.html")
