import subprocess
import sys

import pytest

from kvfence.cli.commands import COMMANDS, load


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_found_by_its_name(name):
    """The function that is loaded has the name that was typed."""
    assert load(name).__name__ == name


def test_a_short_command_does_not_load_the_long_ones():
    """Nobody who audits a log waits for the probe's HTTP client or the cell's arrays."""
    code = "import sys; from kvfence.cli.main import program; program('audit'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "kvfence.cli.audit" in loaded
    assert not {"kvfence.cli.probe", "kvfence.cli.plan", "httpx", "numpy", "uvicorn"} & set(loaded)
