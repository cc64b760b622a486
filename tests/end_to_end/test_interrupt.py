"""Ctrl-C at any time is exit 130 and no traceback; a name that is empty is one clear line."""

import os
import subprocess
import sys
from pathlib import Path

import kvfence
from support.programs import assert_one_clear_line, run_kvfence

CTRL_C = """import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.raise_signal(signal.SIGINT)
"""
"""As from a terminal, also where the tests run in the background: a shell's background jobs ignore Ctrl-C."""


def interrupted(folder, module, *args):
    """The program with a module of ours in the place of one that it loads, which is when Ctrl-C comes."""
    (folder / f"{module}.py").write_text(CTRL_C, encoding="utf-8")
    path = os.pathsep.join((str(folder), str(Path(kvfence.__file__).parents[1])))
    command = [sys.executable, "-m", "kvfence", *args]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def test_ctrl_c_while_the_program_loads_is_quiet(tmp_path):
    """It comes while typer is imported, before any command is known."""
    ran = interrupted(tmp_path, "typer", "--version")
    assert (ran.returncode, ran.stderr) == (130, "")


def test_ctrl_c_while_a_command_runs_is_quiet(tmp_path):
    """It comes while the cell's server is imported, inside the command."""
    ran = interrupted(tmp_path, "uvicorn", "serve", "induction", "--port", "0")
    assert (ran.returncode, ran.stderr.strip()) == (130, "")


def test_an_empty_target_is_one_clear_line():
    """As from a variable that is not set in a script."""
    assert_one_clear_line(run_kvfence("audit", ""), "empty", "TARGET")
