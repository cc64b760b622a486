import os
import re
import subprocess
import sys

import pytest

from kvfence.cli.commands import COMMANDS, load
from support.source_tree import ROOT, SOURCE

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def test_what_is_generated_is_what_the_program_says():
    """docs/cli.md, the rules' pages and the floors are up to date; `make docs` writes them."""
    done = subprocess.run(
        [sys.executable, "docs/write.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    """The help of a command ends with a line that can be run."""
    assert "Example: " in (load(command).__doc__ or "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_on_the_command_line_page_is_one_that_the_program_knows(command):
    """The page spells options as `--help` does: a parameter's name in the code is not its name for the user."""
    section = (
        (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").split(f"## `kvfence {command} ")[1].split("\n## ")[0]
    )
    documented = set(re.findall(r"`(--[a-z-]+)`", section))
    wide = {**os.environ, "COLUMNS": "200", "TERMINAL_WIDTH": "200", "NO_COLOR": "1", "TERM": "dumb"}
    shown = subprocess.run(
        [sys.executable, "-m", "kvfence", command, "--help"], capture_output=True, text=True, check=True, env=wide
    ).stdout
    assert documented == set(re.findall(r"--[a-z][a-z-]+", shown)) - {"--help"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_inside_the_documents_resolves(document):
    """A link to a file of ours leads to a file that exists."""
    links = [link for link in LINK.findall(document.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_package_is_on_the_architecture_page():
    """A newcomer finds a line for each."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {name for name in packages if f"| `{name}` |" not in page} == set()


def test_every_example_of_the_readme_names_a_command_that_exists():
    """Commands in the README are those of the program."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"^(?:.*\| )?kvfence (\w+)", "".join(blocks), re.MULTILINE))
    assert named <= set(COMMANDS)
    assert named >= {"audit", "probe", "serve"}


def test_the_minute_of_the_readme_is_what_the_program_prints():
    """The block under that heading is the real output for the incident's figures; `make docs` writes it."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## An on-call engineer's minute")[1]
    shown = re.findall(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[1]
    log = (ROOT / "tests" / "corpus" / "minute" / "kubectl.log").read_bytes()
    done = subprocess.run([sys.executable, "-m", "kvfence", "audit", "-"], input=log, capture_output=True, check=False)
    printed = "\n".join(line.rstrip() for line in done.stdout.decode().splitlines()).strip("\n")
    assert shown.strip("\n") == printed
    assert (done.returncode, done.stderr) == (1, b"")
