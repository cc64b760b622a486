"""A probe's reports through the command line, against a real server; and the command that a report says repeats it."""

import json
import re
import shlex
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvfence.cli.probe_output import again
from support.probe_servers import Behaviour, endpoint
from support.programs import assert_one_clear_line, run_kvfence

LEAKING = Behaviour(limit=5312, beyond="leak")
WORDS = st.lists(st.sampled_from(["--depths", "8", "--format=html", "-oreport", "--limit", "5312"]), max_size=6)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    forms = ("html", "junit", "sarif", "json")
    with endpoint(LEAKING) as server:
        ran = {
            form: run_kvfence("probe", server.url, "--seed", "7", "--format", form, "-o", str(folder / form))
            for form in forms
        }
    return ran, {form: (folder / form).read_text(encoding="utf-8") for form in forms}


def test_every_format_goes_with_the_same_exit_code_and_the_table(reports):
    """A file for the reader of the format, the table for whoever waits, nothing on standard error."""
    ran, texts = reports
    assert {one.code for one in ran.values()} == {1}
    assert all("leak: another tenant's marker came back" in one.out for one in ran.values())
    assert {one.err for one in ran.values()} == {""}
    assert all(texts.values())


def test_all_formats_tell_the_same_lengths(reports):
    """The leaks of the document are JUnit's failures and SARIF's results; the map has a cell for each depth."""
    _, texts = reports
    document = json.loads(texts["json"])
    leaks = [f"{row['tokens']:,}" for row in document["lengths"] if row["verdict"] == "leak"]
    assert leaks
    cases = ET.fromstring(texts["junit"].encode())[0].iter("testcase")
    assert [case.attrib["name"].split()[0] for case in cases if case.find("failure") is not None] == leaks
    results = json.loads(texts["sarif"])["runs"][0]["results"]
    assert [re.search(r"At ([\d,]+) prompt", one["message"]["text"]).group(1) for one in results] == leaks
    answered = {row["tokens"] for row in document["lengths"] if row["by_depth"]["answers"]}
    assert texts["html"].count('class="cell"') == 5 * len(answered)


def test_a_machine_format_without_a_file_is_on_standard_output_alone():
    """The table is on standard error then."""
    with endpoint() as server:
        ran = run_kvfence("probe", server.url, "--format", "junit")
    assert ET.fromstring(ran.out.encode()).tag == "testsuites"
    assert "clean: every marker came back" in ran.err


def test_the_command_in_the_report_sends_the_same_prompts(tmp_path):
    """In their order, where one is asked after the other; it names no key, no password and no file of the first run."""
    page = tmp_path / "probe.html"
    with endpoint(LEAKING) as server:
        secret = server.url.replace("http://", "http://user:hunter2hunter2@")
        run_kvfence(
            "probe",
            secret,
            "--depths",
            "4",
            "--scenario",
            "sweep",
            "--format",
            "html",
            "-o",
            str(page),
            "--journal",
            f"{page}.sqlite",
        )
        first = [body["messages"] for body in server.asked]
        text = page.read_text(encoding="utf-8")
        command = re.search(r"<pre>(.*?)</pre>", text).group(1)
        server.asked.clear()
        server.prompts.clear()
        assert run_kvfence(*shlex.split(command)[1:]).code == 1
        assert [body["messages"] for body in server.asked] == first
    assert "hunter2" not in text
    assert str(tmp_path) not in command


@given(WORDS)
def test_the_command_keeps_what_changes_the_requests(words):
    """What says where one run's results go is left out, everything else stays as it was."""
    told = again(["probe", "http://u:p@h/v1", *words], url="http://u:p@h/v1", shown="http://h/v1", seed=9)
    kept = [word for word in words if word not in {"--format=html", "-oreport"}]
    assert shlex.split(told) == ["kvfence", "probe", "http://h/v1", *kept, "--seed", "9"]


def test_a_plan_has_no_report_of_results():
    """Nothing was run, so nothing passed."""
    ran = run_kvfence("probe", "http://127.0.0.1:9/v1", "--context", "8192", "--dry-run", "--format", "junit")
    assert_one_clear_line(ran, "--dry-run", "json")
