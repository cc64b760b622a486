"""Real releases: every verdict on every wheel of a folder is what reading the code found.

`KVFENCE_WHEELS=FOLDER make conformance`; wheels as pip downloads them (`pip download --no-deps sglang==0.5.23`).
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from kvfence.facts.source.read_source import read_source
from support.source_truth import fixes

FOLDER = os.environ.get("KVFENCE_WHEELS")
WHEELS = sorted(Path(FOLDER).glob("*.whl")) if FOLDER else []
NAMED = re.compile(r"(?P<engine>sglang|vllm)-(?P<version>[\w.]+?)-.*\.whl")

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.timeout(0),
    pytest.mark.skipif(not WHEELS, reason="KVFENCE_WHEELS names no folder of wheels; see tests/conformance/README.md"),
]


def known():
    return [wheel for wheel in WHEELS if NAMED.fullmatch(wheel.name)]


def verdicts(target):
    (tree,) = read_source(str(target)).trees
    return {verdict.fix: str(verdict.presence) for verdict in tree.verdicts}


@pytest.mark.parametrize("wheel", known(), ids=lambda wheel: wheel.name.split("-py")[0].split("-cp")[0])
def test_every_verdict_on_a_release_is_right(wheel):
    """Present or absent as the table says, never "cannot tell"."""
    named = NAMED.fullmatch(wheel.name)
    truth = fixes(named["engine"], named["version"])
    wanted = {fix: "present" if there else "absent" for fix, there in (truth or {}).items()}
    assert verdicts(wheel) == wanted


def _edited(tmp_path, version, file, edit):
    """That release's tree with one file edited."""
    (wheel,) = [one for one in known() if one.name.startswith(f"sglang-{version}-")]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    path = tmp_path / "sglang" / "srt" / file
    text = path.read_text("utf-8")
    changed = edit(text)
    assert changed != text
    path.write_text(changed, "utf-8")
    return tmp_path


@pytest.mark.parametrize("version", ["0.4.10", "0.5.10", "0.5.19", "0.5.20"])
def test_the_door_put_by_hand_into_an_old_release_is_present(tmp_path, version):
    """A backport, in a tree whose version string says nothing of it."""

    def backport(text):
        gate = "\\g<0>        if req.to_finish is not None or req.finished_reason is not None:\n            return\n"
        return re.sub(r"    def add\(self, req: Req, num_kv_heads: int\) -> None:\n", gate, text, count=1)

    found = verdicts(_edited(tmp_path, version, "disaggregation/prefill.py", backport))
    assert found["prefill-door"] == "present"
    assert found["decode-door"] == "absent"


@pytest.mark.parametrize("version", ["0.5.21", "0.5.22", "0.5.23"])
def test_a_gate_taken_out_of_a_new_release_is_absent(tmp_path, version):
    """A fork that lost it, in a tree whose version string says otherwise."""

    def without(text):
        return text.replace("if is_unadmitted_reject(req):", "if False:")

    found = verdicts(_edited(tmp_path, version, "disaggregation/prefill.py", without))
    assert found["prefill-door"] == "absent"
    assert found["prefill-result-gate"] == found["decode-door"] == "present"


def test_another_version_string_changes_nothing(tmp_path):
    """The newest release renamed to the oldest one."""
    (wheel,) = [one for one in known() if one.name.startswith("sglang-0.5.23-")]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    for folder in tmp_path.glob("sglang-*.dist-info"):
        shutil.rmtree(folder)
    for name in ("version.py", "_version.py"):
        (tmp_path / "sglang" / name).write_text('__version__ = "0.4.0"\n', "utf-8")
    assert verdicts(tmp_path) == verdicts(wheel)
