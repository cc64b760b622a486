import json

import pytest

from support.programs import answering, assert_one_clear_line, run_kvfence, served, silent, tcp_server

CONTEXT, POOL = 4096, 2624
"""What the cell declares, and what its prefill can hold, where no test needs more."""
KEYS = {"tokens", "status", "verdict", "recalled", "planted", "foreign"}


WRONG = {"off-topic", "garbled", "lost", "inconclusive"}
"""What stale pages of its own earlier prompts give, now and then."""


def probed(*args):
    ran = run_kvfence("probe", *args, "--format", "json")
    return ran, json.loads(ran.out)


def of_sweep(report):
    return [length for length in report["lengths"] if length["scenario"] == "sweep"]


@pytest.fixture(scope="module")
def leaking():
    with served("--rules", "placeholder", "--context", str(CONTEXT)) as (url, _):
        yield url


@pytest.fixture(scope="module")
def found(leaking):
    return probed(leaking, "--limit", str(POOL))


@pytest.mark.slow
def test_the_old_rules_are_found_from_outside(found):
    """A leak: exit 1, and the lengths over the pool carry the other tenant's markers with status 200."""
    ran, report = found
    assert ran.code == 1
    assert (report["schema"], report["verdict"], report["declared_context"]) == (1, "leak", CONTEXT)
    assert all(set(length) >= KEYS for length in report["lengths"])
    by_verdict = {}
    for length in report["lengths"]:
        by_verdict.setdefault(length["verdict"], []).append(length)
    assert {"clean", "leak", "refused"} <= set(by_verdict) <= {"clean", "leak", *WRONG, "refused"}
    assert all(length["tokens"] > POOL for kind in WRONG for length in by_verdict.get(kind, []))
    assert max(length["tokens"] for length in by_verdict["clean"]) <= POOL
    assert all(length["tokens"] > POOL and length["status"] == 200 for length in by_verdict["leak"])
    assert all(length["foreign"] > 0 and length["recalled"] == 0 for length in by_verdict["leak"])


@pytest.mark.slow
def test_no_foreign_marker_is_printed_whole(found):
    """Evidence is masked in the document."""
    _, report = found
    shown = [mark["shown"] for length in report["lengths"] for mark in length["evidence"]]
    assert shown
    assert all(len(mark.split("…")[0]) == 4 for mark in shown)


@pytest.mark.parametrize("api", [(), ("--completions",)])
def test_the_fence_is_clean_from_outside(api):
    """Clean: exit 0, every marker back up to the advertised length, and past it a refusal."""
    with served("--context", "8192") as (url, _):
        ran, report = probed(url, *api)
    assert ran.code == 0
    assert report["verdict"] == "clean"
    assert report["declared_context"] == 5312
    assert [length["verdict"] for length in of_sweep(report)] == ["clean", "clean", "clean", "refused"]
    assert {length["verdict"] for length in report["lengths"] if length["scenario"] == "json-echo"} == {"clean"}


@pytest.mark.slow
def test_a_cell_with_workers_as_processes_leaks_and_is_fenced_alike():
    """The same two verdicts where the pools lie in shared memory."""
    verdicts = []
    for rules in ("placeholder", "fenced"):
        with served("--rules", rules, "--context", "4096", "--workers", "process") as (url, _):
            verdicts.append(probed(url)[1]["verdict"])
    assert verdicts == ["leak", "clean"]


@pytest.mark.slow
def test_a_context_that_is_overstated_has_its_own_verdict():
    """I7: told of a larger context than is usable, the probe finds the refusal below it."""
    with served("--context", str(CONTEXT)) as (url, _):
        ran, report = probed(url, "--context", str(CONTEXT), "--scenario", "sweep")
    assert (ran.code, report["verdict"]) == (1, "limit-overstated")


HTML = b"<html><body>Welcome</body></html>"
MODELS = b'{"object":"list","data":[{"id":"m","max_model_len":8192}]}'


@pytest.mark.parametrize(
    ("misbehave", "words"),
    [
        (answering("200 OK", HTML, "text/html"), ("not an OpenAI-compatible endpoint", "HTML")),
        (answering("500 Internal Server Error", b'{"error":{"message":"boom"}}'), ("status 500",)),
        (answering("401 Unauthorized", b'{"error":{"message":"no"}}'), ("wants a key", "--api-key-env")),
        (answering("200 OK", MODELS[:20], cut=500), ("closed in the middle",)),
        (answering("200 OK", b'{"data":[]}'), ("lists no model", "--model")),
        (answering("200 OK", b'{"data":[{"id":"m"}]}'), ("--context",)),
        (answering("200 OK", MODELS), ("does not answer even a short prompt", "without an answer")),
    ],
    ids=["html", "500", "401", "cut", "no model", "no context", "no answer"],
)
def test_a_target_that_is_no_endpoint_is_one_clear_line(misbehave, words):
    """HTML, 500, a missing key, a cut answer, nothing to ask: exit 2 and what to do."""
    with tcp_server(misbehave) as url:
        assert_one_clear_line(run_kvfence("probe", url), *words)


def test_a_target_that_hangs_is_one_clear_line():
    """A server that never answers: the time-out is named, and how to change it."""
    with tcp_server(silent) as url:
        assert_one_clear_line(run_kvfence("probe", url, "--timeout", "0.5"), "no answer within 0.5 s", "--timeout")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("http://127.0.0.1:9/v1",), ("nothing listens there", "is it up")),
        (("127.0.0.1:8000",), ("is not a URL",)),
        (("http://127.0.0.1:99999/v1",), ("not a usable URL", "65535")),
        (("http://[::1/v1",), ("not a usable URL",)),
        (("http://\u00e4..b/v1",), ("not a name that can be looked up",)),
        ((f"http://{'a' * 80}.invalid/v1",), ("the name is not known here",)),
        (("http://127.0.0.1:9/v1?key=hunter2",), ("query",)),
        (("http://127.0.0.1:9/v1", "--lengths", "0"), ("--lengths 0", "1 or more")),
        (("http://127.0.0.1:9/v1", "-o", "/no/such/folder/report.json"), ("cannot write", "another file")),
        (("http://127.0.0.1:9/v1", "--api-key-env", "KVFENCE_NOT_SET"), ("KVFENCE_NOT_SET", "not set")),
    ],
)
def test_wrong_use_is_one_clear_line(args, words):
    """What cannot be probed is said in one line with exit 2."""
    assert_one_clear_line(run_kvfence("probe", *args), *words)


@pytest.mark.parametrize("url", ["http://me:hunter2@127.0.0.1:9/v1", "http://me:hunter2@127.0.0.1:99999/v1"])
def test_a_password_in_a_url_is_not_printed(url):
    """Neither where it cannot be reached nor where it cannot be read."""
    ran = run_kvfence("probe", url)
    assert_one_clear_line(ran, "127.0.0.1")
    assert "hunter2" not in ran.err


def test_an_unknown_model_is_answered_with_those_there_are(leaking):
    """The line names the models that the endpoint lists."""
    assert_one_clear_line(run_kvfence("probe", leaking, "--model", "gpt-9"), "gpt-9", "induction")


def test_a_model_that_cannot_copy_is_weak_and_not_clean():
    """The control fails twice: exit 3, for a wrong long answer would prove nothing."""
    body = json.dumps(
        {
            "data": [{"id": "m", "max_model_len": 8192}],
            "choices": [{"message": {"content": "I am a teapot."}}],
            "usage": {"prompt_tokens": 700},
        }
    ).encode()
    with tcp_server(answering("200 OK", body)) as url:
        ran, report = probed(url)
    assert (ran.code, report["verdict"]) == (3, "weak-model")
    assert [(row["verdict"], row["asked"], row["answers"]) for row in report["lengths"]] == [("lost", 2, {"lost": 2})]


def test_many_depths_come_back_in_one_answer():
    """16 markers in one prompt, recited by the cell's own model: the answer is as long as they need."""
    with served("--context", "4096", "--prefill-pool", "8192") as (url, _):
        ran, report = probed(url, "--depths", "16", "--lengths", "2000")
    assert ran.code == 0, report["reason"]
    assert [(length["recalled"], length["planted"]) for length in of_sweep(report)] == [(16, 16)] * 2


def test_a_context_too_short_for_so_many_markers_is_one_clear_line(leaking):
    """It is said how long it would have to be."""
    assert_one_clear_line(run_kvfence("probe", leaking, "--context", "4096", "--depths", "64"), "64 markers", "needed")
