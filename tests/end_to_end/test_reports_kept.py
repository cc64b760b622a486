"""A report lands in the file that was named, and never on what is read."""

from pathlib import Path

import pytest

from support.audit_logs import INCIDENT
from support.probe_servers import endpoint
from support.programs import assert_one_clear_line, run_kvfence

PREFILL = INCIDENT / "sglang-0.5.19-prefill.log"


def test_a_probe_writes_its_table_to_the_file(tmp_path: Path):
    """The evidence is in it, whatever the format."""
    report = tmp_path / "probe.txt"
    with endpoint() as server:
        ran = run_kvfence("probe", server.url, "--lengths", "2000", "-o", str(report))
    assert ran.code == 0, ran.err
    assert "every marker came back" in report.read_text()


@pytest.mark.parametrize("form", ["table", "html", "json"])
def test_the_log_that_is_read_is_not_written_over(tmp_path: Path, form: str):
    """By its own name, or by another name of the same file."""
    log = tmp_path / "prefill.log"
    log.write_bytes(PREFILL.read_bytes())
    (tmp_path / "same").symlink_to(log)
    for output in (log, tmp_path / "same"):
        ran = run_kvfence("audit", str(log), "--format", form, "-o", str(output))
        assert_one_clear_line(ran, "one of the files that are read", "another file")
    assert log.read_bytes() == PREFILL.read_bytes()


def test_a_lock_file_is_not_written_over_the_log(tmp_path: Path):
    """`gate --write` with the two names mixed up."""
    log = tmp_path / "prefill.log"
    log.write_bytes(PREFILL.read_bytes())
    ran = run_kvfence("gate", "--write", "--baseline", str(log), str(log))
    assert_one_clear_line(ran, "one of the files that are read")
    assert log.read_bytes() == PREFILL.read_bytes()


@pytest.mark.parametrize(
    "args",
    [
        ("probe", "http://127.0.0.1:9/v1", "--timeout", "1e300"),
        ("probe", "http://127.0.0.1:9/v1", "--lengths", "100000000000"),
        ("probe", "http://127.0.0.1:9/v1", "--context", "99999999999999999999"),
        ("serve", "induction", "--decode-pool", "999999999999999999999"),
        ("serve", "induction", "--context", "99999999999999999999"),
    ],
)
def test_a_number_that_no_machine_has_is_wrong_use(args: tuple[str, ...]):
    """One line, at once; no error from inside."""
    assert_one_clear_line(run_kvfence(*args), args[-2])
