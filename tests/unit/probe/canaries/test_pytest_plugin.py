"""A long-context application's own tests, run for real in a process of their own."""

import os
import subprocess
import sys
import tomllib

import pytest

from support.source_tree import ROOT, SOURCE

APPLICATION = '''
import re
import pytest

pages = []
"""What a server without a fence has left over from other prompts."""

def ask(prompt, *, stale=0, silent=False, garble=False):
    marker = re.findall(r"(?:[0-9A-Z]{5}-){4}[0-9A-Z]{5}", prompt)[-1]
    pages.append(marker)
    shown = marker[:11] if garble else pages[-1 - stale]
    return "It is 42." if silent else f"It is 42.\\n\\nCanary code: {shown}."
'''
SEED = """
def test_planter(kv_canary):
    assert kv_canary.check(ask(kv_canary.bury("A long text."))).answer == "It is 42."
"""


def run_tests(tmp_path, tests: str, *args: str, plugin: str = "kvfence.probe.pytest_plugin") -> str:
    (tmp_path / "test_app.py").write_text(APPLICATION + tests, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", encoding="utf-8")
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-m", "pytest", "-p", plugin, "-rA", "-p", "no:cacheprovider", *args]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **alone}, capture_output=True, text=True, check=False, timeout=100
    )
    return done.stdout + done.stderr


def test_three_lines_are_enough(tmp_path):
    """A server that answers rightly passes, and the answer is without the marker."""
    assert "1 passed" in run_tests(tmp_path, SEED)


def test_another_tests_marker_fails_the_test_and_names_the_other(tmp_path):
    """One server, two tests, and the second gets the first one's pages."""
    leaky = SEED + 'def test_reader(kv_canary):\n    kv_canary.check(ask(kv_canary.bury("Another."), stale=1))\n'
    out = run_tests(tmp_path, leaky)
    assert "1 failed, 1 passed" in out
    assert "kv_canary: leak" in out
    assert "planted by test_app.py::test_planter" in out


@pytest.mark.parametrize(("how", "said"), [("silent=True", "kv_canary: lost"), ("garble=True", "kv_canary: garbled")])
def test_a_marker_that_does_not_come_back_fails_the_test(tmp_path, how, said):
    """And says in which way."""
    out = run_tests(tmp_path, f'def test_it(kv_canary):\n    kv_canary.check(ask(kv_canary.bury("A."), {how}))\n')
    assert "1 failed" in out
    assert said in out


def test_a_mark_lets_a_forgetful_model_pass_with_a_warning(tmp_path):
    """And sets the depth; a wrong mark is told."""
    body = 'def test_it(kv_canary):\n    kv_canary.check(ask(kv_canary.bury("A."), silent=True))\n'
    out = run_tests(tmp_path, f"@pytest.mark.kv_canary(depth=0.5, lost='warn')\n{body}")
    assert "1 passed, 1 warning" in out
    assert "CanaryWarning: kv_canary: lost" in out
    assert "it is 'fail' or 'warn'" in run_tests(tmp_path, f"@pytest.mark.kv_canary(lost='no')\n{body}")


def test_a_canary_that_was_never_checked_fails_a_test_that_passed_and_no_other(tmp_path):
    """Silence is no success; a test that failed by itself has one failure."""
    unchecked = 'def test_it(kv_canary):\n    kv_canary.bury("A.")\n'
    assert "buried and never checked" in run_tests(tmp_path, unchecked)
    out = run_tests(tmp_path, unchecked + "    assert False\n")
    assert "1 failed" in out
    assert "error" not in out.splitlines()[-1]


def test_under_xdist_a_marker_of_another_workers_test_is_named(tmp_path):
    """Workers share no memory: the marker itself, planted by worker gw0, is handed over in a file."""
    tests = """
import pathlib, time

@pytest.mark.xdist_group("a")
def test_planter(kv_canary):
    prompt = kv_canary.bury("A long text.")
    answer = ask(prompt)
    pathlib.Path("page.part").write_text(pages[-1])
    pathlib.Path("page.part").rename("page")
    kv_canary.check(answer)

@pytest.mark.xdist_group("b")
def test_reader(kv_canary):
    kv_canary.bury("Another.")
    while not pathlib.Path("page").exists():
        time.sleep(0.02)
    kv_canary.check(pathlib.Path("page").read_text())
"""
    pytest.importorskip("xdist")
    out = run_tests(tmp_path, tests, "-p", "xdist", "-n", "2", "--dist", "loadgroup")
    assert "1 failed, 1 passed" in out
    assert "planted by test_app.py::test_planter" in out


def test_a_session_that_does_not_use_it_imports_nothing_of_it(tmp_path):
    """The plugin's module and its package alone."""
    tests = (
        "import sys\ndef test_it():\n    ours = {name for name in sys.modules if name.startswith('kvfence')}\n"
        "    assert ours == {'kvfence', 'kvfence.probe', 'kvfence.probe.pytest_plugin'}\n"
        "    assert 'httpx' not in sys.modules\n"
    )
    assert "1 passed" in run_tests(tmp_path, tests)


def test_an_installed_kvfence_is_found_by_pytest(tmp_path):
    """The entry point in pyproject.toml, as an installer writes it down, is enough."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    written = tmp_path / "site" / "kvfence_points-1.dist-info"
    written.mkdir(parents=True)
    (written / "METADATA").write_text("Metadata-Version: 2.1\nName: kvfence-points\nVersion: 1\n", encoding="utf-8")
    lines = "\n".join(f"{name} = {module}" for name, module in points["pytest11"].items())
    (written / "entry_points.txt").write_text(f"[pytest11]\n{lines}\n", encoding="utf-8")
    (tmp_path / "test_app.py").write_text(APPLICATION + SEED, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(written.parent), str(SOURCE.parent)])}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=100)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


PLANTS = """
import pathlib
def test_planter(kv_canary):
    answer = ask(kv_canary.bury("A long text."))
    pathlib.Path("stale").write_text(pages[-1])
    kv_canary.check(answer)
"""
READS = """
import pathlib
def test_reader(kv_canary):
    kv_canary.bury("Another.")
    kv_canary.check(pathlib.Path("stale").read_text()[:17])
"""


def test_a_registry_remembers_beyond_the_run(tmp_path):
    """A second run whose server still has a part of the first one's page names the test that planted it."""
    kept = ("-o", "kv_canary_registry=markers.sqlite", "-W", "error")
    assert "1 passed" in run_tests(tmp_path, PLANTS, *kept)
    assert "kv_canary: leak" not in run_tests(tmp_path, READS)
    out = run_tests(tmp_path, READS, *kept)
    assert "kv_canary: leak" in out
    assert "planted by test_app.py::test_planter" in out
