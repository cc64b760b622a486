import json
import re

import pytest

from support.programs import assert_one_clear_line, run_kvfence

TRACE = '{"violation": {"faults": 0, "wire": "push", "trace": []}, "bound": "small", "rules": "fenced"}'


@pytest.fixture(scope="module")
def incident(tmp_path_factory):
    """The report of the incident's search, as a file and what was printed beside it."""
    file = tmp_path_factory.mktemp("verify") / "incident.json"
    return file, run_kvfence("verify", "--rules", "placeholder", "--format", "json", "-o", str(file))


def test_the_incident_is_told_as_a_story_and_drawn(incident):
    """Exit 1, the verdict first, numbered moves up to the leak, and a sequence diagram."""
    _, ran = incident
    assert ran.code == 1
    assert ran.out.startswith("Broken under placeholder: room 2 of tenant B reads tenant A's text")
    assert re.findall(r"^ *(\d+)\. ", ran.out, re.MULTILINE) == [str(number) for number in range(1, 18)]
    assert "ManifestReceived of room 2 reaches decode, sent by prefill." in ran.out
    assert "sequenceDiagram" in ran.out


def test_the_report_has_what_is_promised(incident):
    """Schema 1, the search's size, and the moves by name."""
    report = json.loads(incident[0].read_text(encoding="utf-8"))
    assert (report["schema"], report["rules"], report["bound"], report["complete"]) == (
        1,
        "placeholder",
        "small",
        False,
    )
    assert report["states"] > 1000
    assert report["violation"]["invariant"] == "foreign-text"
    assert report["violation"]["trace"][0] == {
        "kind": "ask",
        "room": 1,
        "says": "Tenant A asks with a prompt of 3 tokens (room 1).",
    }


def test_a_trace_is_made_again_and_breaks_the_same_promise(incident):
    """A replay ends as the search did, and in the running cell the taint oracle agrees."""
    ran = run_kvfence("verify", "--replay", str(incident[0]))
    assert ran.code == 1
    assert ran.out.startswith("Broken again under placeholder: foreign-text: room 2 of tenant B")
    assert "In the running cell: the taint oracle saw 1 read of another tenant's slots at decode" in ran.out


def test_under_the_fence_the_incident_goes_another_way(incident):
    """Prefill refuses the prompt at its door, so the trace stops there, and nothing is concluded of the rest."""
    ran = run_kvfence("verify", "--replay", str(incident[0]), "--rules", "fenced")
    assert ran.code == 3
    assert ran.out.startswith("Under fenced move 14 of 17 cannot be made")
    assert "the taint oracle saw no reads of another tenant's slots at decode" in ran.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rules", "fence"), ("'fence'", "fenced", "placeholder")),
        (("--wire", "carrier"), ("'carrier'", "push", "two-sided")),
        (("--replay", "nowhere.json"), ("nowhere.json", "No such file")),
        (("--replay", "nowhere.json", "--wire", "push"), ("--wire",)),
    ],
)
def test_wrong_use_is_one_clear_line(options, words):
    """Exit 2, with the names that there are."""
    assert_one_clear_line(run_kvfence("verify", *options), *words)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "JSONDecodeError"),
        ("[]", "TypeError"),
        ("{}", "violation"),
        ('{"violation": null}', "no violation"),
        (TRACE.replace("small", "huge"), "huge"),
        (TRACE.replace("[]", '[{"kind": "ask", "room": "1"}]'), "whole numbers"),
    ],
)
def test_what_is_no_trace_is_one_clear_line(tmp_path, text, word):
    """Exit 2, naming the file."""
    file = tmp_path / "trace.json"
    file.write_text(text, encoding="utf-8")
    assert_one_clear_line(run_kvfence("verify", "--replay", str(file)), "trace.json", word)
