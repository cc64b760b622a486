import subprocess
import sys
from typing import get_type_hints

import pytest

from kvfence.cli.commands import COMMANDS, load
from kvfence.cli.main import program


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


@pytest.mark.parametrize("command", COMMANDS)
def test_a_paragraph_of_the_help_is_broken_by_the_terminal_alone(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """On a wide one each is a line: a line break of the source would stand there in the middle of a sentence."""
    monkeypatch.setenv("COLUMNS", "3000")
    program(command)([command, "--help"], standalone_mode=False)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for paragraph in (load(command).__doc__ or "").split("\n\n"):
        assert " ".join(paragraph.split()) in lines


@pytest.mark.parametrize("command", COMMANDS)
def test_what_an_option_s_help_says_is_shown_whole(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """What stands in square brackets would be taken for a style and left out."""
    monkeypatch.setenv("COLUMNS", "3000")
    program(command)([command, "--help"], standalone_mode=False)
    shown = capsys.readouterr().out
    for name in get_type_hints(load(command)):
        assert _help(command, name) in shown


def _help(command: str, name: str) -> str:
    """The help of that parameter, on one line; empty for what is neither an option nor an argument."""
    hint = get_type_hints(load(command), include_extras=True)[name]
    said = [getattr(one, "help", None) for one in getattr(hint, "__metadata__", ())]
    return " ".join(next((one for one in said if isinstance(one, str)), "").split())
