import pytest

import kvfence
from support.programs import run_kvfence


def test_the_version_is_printed():
    """--version alone: one line, exit 0."""
    ran = run_kvfence("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"kvfence {kvfence.__version__}\n", "")


def test_help_lists_every_command():
    """--help names what the program can do."""
    ran = run_kvfence("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in ("audit", "demo", "probe", "serve"))


@pytest.mark.parametrize("args", [(), ("nonsense",), ("audit",), ("probe",), ("demo", "--nonsense")])
def test_wrong_use_exits_2_without_a_traceback(args):
    """Whatever is asked wrongly is told, and the shell knows."""
    ran = run_kvfence(*args)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert (ran.err + ran.out).strip()
