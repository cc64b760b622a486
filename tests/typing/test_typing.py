"""What a type checker must accept, and what it must refuse: mypy runs once over each folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXPECTED = re.compile(r"# expected: (.+)")
OK, MUST_NOT = sorted((HERE / "ok").glob("*.py")), sorted((HERE / "must_not").glob("*.py"))


def expected_of(file):
    first, *_ = file.read_text(encoding="utf-8").splitlines()
    found = EXPECTED.fullmatch(first)
    return found[1] if found else None


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """The errors of each file of a folder, and mypy's exit status."""
    cache = tmp_path_factory.mktemp("mypy")

    def run(files):
        command = [sys.executable, "-m", "mypy", f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={cache}"]
        options = ["--no-error-summary", "--no-color-output", "--no-pretty", "--hide-error-context"]
        environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
        done = subprocess.run(
            [*command, *options, *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            cwd=ROOT,
        )
        errors = {file.name: [] for file in files}
        for line in done.stdout.splitlines():
            place, _, message = line.partition(": error: ")
            if message:
                errors.setdefault(Path(place.split(":")[0]).name, []).append(message)
        return done.returncode, errors, done.stderr

    return run


@pytest.fixture(scope="module")
def refused(mypy):
    """What mypy says of everything that must not pass."""
    status, errors, stderr = mypy(MUST_NOT)
    assert (status, stderr) == (1, "")
    return errors


def test_the_right_way_type_checks(mypy):
    """Every file in `ok` passes mypy strict."""
    assert mypy(OK) == (0, {file.name: [] for file in OK}, "")


@pytest.mark.parametrize("file", MUST_NOT, ids=lambda file: file.stem)
def test_each_wrong_way_is_refused_for_its_reason(file, refused):
    """One error, and it is the expected one."""
    expected = expected_of(file)
    assert expected, f"{file.name} opens with `# expected: ...`"
    assert len(refused[file.name]) == 1, refused[file.name]
    assert expected in refused[file.name][0]


def test_every_error_is_of_a_file_that_must_not_pass(refused):
    """There is something to check in both folders, and mypy spoke of nothing else."""
    assert OK
    assert set(refused) == {file.name for file in MUST_NOT}
    assert MUST_NOT
