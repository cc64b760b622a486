"""`kvfence gate` as a program: write, pass, fail, and wrong use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.audit_logs import INCIDENT
from support.endpoint_servers import Reply, Server, as_json, engine
from support.endpoint_servers import sglang as sglang_pages
from support.programs import assert_one_clear_line, run_kvfence

PREFILL, DECODE = (str(INCIDENT / f"sglang-0.5.19-{role}.log") for role in ("prefill", "decode"))


def test_a_baseline_is_written_passed_and_failed(tmp_path: Path):
    """0 when nothing moved, 1 with the figures as JSON when a pool shrank."""
    wrote = run_kvfence("gate", "--write", PREFILL, DECODE, cwd=tmp_path)
    assert wrote.code == 0, wrote
    assert "kvfence.lock: written; kvfence audit finds something amiss in what it records (3 critical, " in wrote.err
    assert run_kvfence("gate", PREFILL, DECODE, cwd=tmp_path).code == 0
    smaller = Path(DECODE).read_text("utf-8").replace("max_total_num_tokens=512", "max_total_num_tokens=300")
    (tmp_path / "decode.log").write_text(smaller)
    moved = run_kvfence("gate", "--format", "json", PREFILL, "decode.log", cwd=tmp_path)
    assert moved.code == 1
    (finding,) = json.loads(moved.out)["findings"]
    assert (finding["code"], finding["node"]) == ("KVF611", "decode")
    assert "300, and 512 in the baseline" in finding["message"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((PREFILL,), ("no baseline yet", "--write")),
        (("--tolerance", "half", PREFILL), ("--tolerance half", "2%")),
        (("--tolerance", "100%", PREFILL), ("--tolerance 100%",)),
        (("--tolerance", "nan", PREFILL), ("--tolerance nan",)),
        (("--write", "--baseline", "no/such/place.lock", PREFILL), ("cannot write", "--baseline")),
        (("--write", "absent.log"), ("absent.log", "no such file")),
    ],
)
def test_wrong_use_is_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]):
    """Exit 2, what is wrong, what to do."""
    assert_one_clear_line(run_kvfence("gate", *arguments, cwd=tmp_path), *words)


KEY = "kv9-quite-unlike-a-usual-key"
PASSWORD = "hunter2hunter2"


@pytest.fixture
def locked_server() -> Iterator[Server]:
    """A server that answers to one key only, and that repeats it wherever a server might."""
    command = f"python -m sglang.launch_server --model-path /m --api-key {KEY}"
    (page,) = sglang_pages("0.5.23-decode", api_key=KEY, launch_command=command, admin_api_key=KEY).values()
    assert isinstance(page, bytes)
    with engine({"/server_info": Reply(body=page, key=KEY)}) as server:
        yield server


@pytest.mark.parametrize(("variable", "arguments"), [("KVFENCE_API_KEY", ()), ("MINE", ("--api-key-env", "MINE"))])
def test_a_server_that_wants_a_key_is_recorded_and_checked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    locked_server: Server,
    variable: str,
    arguments: tuple[str, ...],
):
    """With the key its facts are written and compared; the key is in no file and in no output."""
    url = locked_server.url
    monkeypatch.setenv(variable, KEY)
    wrote = run_kvfence("gate", "--write", url, *arguments, cwd=tmp_path)
    assert wrote.code == 3, wrote  # prefill was not named
    checked = run_kvfence("gate", "--format", "json", "-o", "gate.json", url, *arguments, cwd=tmp_path)
    assert checked.code == 0, checked
    page = locked_server.pages["/server_info"]
    assert isinstance(page, Reply)
    smaller = {**json.loads(page.body), "max_total_num_tokens": 300}
    locked_server.pages["/server_info"] = Reply(body=as_json(smaller), key=KEY)
    moved = run_kvfence("gate", "--format", "html", "-o", "gate.html", url, *arguments, cwd=tmp_path)
    assert moved.code == 1, moved
    files = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert {"kvfence.lock", "gate.json", "gate.html"} == files.keys()
    told = [*files.values(), *(text for ran in (wrote, checked, moved) for text in (ran.out, ran.err))]
    assert not any(KEY in text for text in told)
    assert "pool_tokens = 512" in files["kvfence.lock"]


def test_a_password_in_an_address_stays_out_of_the_lock_file(tmp_path: Path):
    """The user and the password of `http://user:password@host` are sent and not written."""
    with engine(sglang_pages("0.5.23-decode")) as server:
        address = server.url.replace("://", f"://mallory:{PASSWORD}@")
        wrote = run_kvfence("gate", "--write", address, cwd=tmp_path)
        assert all(key.startswith("Basic ") for key in server.keys)
    text = (tmp_path / "kvfence.lock").read_text("utf-8") + wrote.out + wrote.err
    assert PASSWORD not in text
    assert "mallory" not in text


def test_without_the_key_nothing_is_written(tmp_path: Path, locked_server: Server):
    """Exit 2, and one line that names the option."""
    refused = run_kvfence("gate", "--write", locked_server.url, cwd=tmp_path)
    assert_one_clear_line(refused, "wants a key (status 401)", "--api-key-env")
    unset = run_kvfence("gate", locked_server.url, "--api-key-env", "KVFENCE_NOT_SET", cwd=tmp_path)
    assert_one_clear_line(unset, "--api-key-env KVFENCE_NOT_SET", "not set")
    assert list(tmp_path.iterdir()) == []
