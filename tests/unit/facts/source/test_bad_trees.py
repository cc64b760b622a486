"""Trees that are broken, hostile, or none at all: a clear line or "cannot tell", and never a traceback."""

from __future__ import annotations

import os
import random
import zipfile

import pytest

from kvfence.errors import TargetError
from kvfence.facts.source.files import FILE_BYTES_MAX
from kvfence.facts.source.read_source import read_source
from kvfence.findings.source_tree import Presence
from support.engine_trees import DECODE, PREFILL, SGLANG, laid_out, packed

DEEP = "x = " + "-" * 100_000 + "1\n"
BRACKETS = "x = " + "[" * 5_000 + "]" * 5_000 + "\n"
SUM = "x = " + "1 + " * 50_000 + "1\n"
NESTED = "\n".join("    " * depth + "if a:" for depth in range(90)) + "\n" + "    " * 90 + "pass\n"


def only(target):
    (tree,) = read_source(str(target)).trees
    return tree


@pytest.mark.parametrize("text", [DEEP, BRACKETS, SUM, NESTED], ids=["signs", "brackets", "sum", "ifs"])
def test_code_nested_too_deeply_is_not_followed(tmp_path, text):
    """A file of a hundred thousand signs ends in verdicts, and not in a crash."""
    tree = only(laid_out(tmp_path, {**SGLANG, "srt/disaggregation/extra.py": text, PREFILL: text + SGLANG[PREFILL]}))
    assert len(tree.verdicts) >= 4


def test_a_door_of_thousands_of_branches_ends(tmp_path):
    """What is too much to follow cannot be told, or is told; it ends either way."""
    many = "        if req.a:\n            req.b = 1\n" * 3_000
    old = "    def add(self, req, heads):\n"
    tree = only(laid_out(tmp_path, {**SGLANG, PREFILL: SGLANG[PREFILL].replace(old, old + many)}))
    assert tree.verdict("prefill-door").presence in {Presence.PRESENT, Presence.CANNOT_TELL}


def test_calls_in_a_circle_end(tmp_path):
    """Functions that call one another are followed once."""
    circle = "\n\ndef one(req):\n    return two(req)\n\n\ndef two(req):\n    return one(req)\n"
    gate = "    def add(self, req, heads):\n"
    text = SGLANG[PREFILL].replace(gate, gate + "        if one(req):\n            return\n") + circle
    assert only(laid_out(tmp_path, {**SGLANG, PREFILL: text})).verdict("prefill-door").presence == "present"


def test_a_file_too_large_for_code_is_not_read(tmp_path):
    """Its size is said, and what hangs on it cannot be told."""
    verdict = only(laid_out(tmp_path, {**SGLANG, PREFILL: "#" * (FILE_BYTES_MAX + 1)})).verdict("prefill-door")
    assert verdict.presence == "cannot tell"
    assert "too many for source code" in verdict.reason


def test_a_loop_of_links_ends(tmp_path):
    """Links to folders are not followed, whatever they point to."""
    site = laid_out(tmp_path / "site", SGLANG)
    (site / "loop").symlink_to(site, target_is_directory=True)
    (site / "sglang" / "srt" / "disaggregation" / "again").symlink_to(site / "sglang", target_is_directory=True)
    (site / "a").symlink_to(site / "b")
    (site / "b").symlink_to(site / "a")
    assert only(site).verdict("prefill-door").presence == "present"


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path):
    """Only regular files are opened."""
    site = laid_out(tmp_path, SGLANG)
    (site / "sglang" / PREFILL).unlink()
    os.mkfifo(site / "sglang" / PREFILL)
    verdict = only(site).verdict("prefill-door")
    assert (verdict.presence, "not a regular file" in verdict.reason) == ("cannot tell", True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_a_gap(tmp_path):
    """What cannot be listed holds nothing that could be said to be absent."""
    site = laid_out(tmp_path, SGLANG)
    (site / "sglang" / "srt" / "managers").chmod(0)
    assert only(site).verdict("prefill-door").presence != "absent"


@pytest.mark.parametrize("level", ["", "lib/python3.12/site-packages", "python", "a/b/c"])
def test_a_package_is_found_from_above(tmp_path, level):
    """An environment, a checkout, any folder around it; and the package itself."""
    site = laid_out(tmp_path / level, SGLANG)
    assert only(tmp_path).engine == only(site / "sglang").engine == "sglang"


def test_a_folder_without_an_engine_is_one_gap(tmp_path):
    """So is an engine without disaggregated serving, in other words."""
    (tmp_path / "sglang").mkdir()
    assert read_source(str(tmp_path)).trees == ()
    assert len(read_source(str(tmp_path)).gaps) == 1
    old = read_source(str(laid_out(tmp_path, {"version.py": "", "srt/managers/scheduler.py": "x = 1\n"})))
    assert [tree.verdicts for tree in old.trees] == [()]
    assert "has no disaggregated serving" in old.gaps[0]


def test_a_folder_of_many_engines_is_not_read_for_ever(tmp_path):
    """The nearest few are read, and the rest is a gap."""
    for number in range(6):
        laid_out(tmp_path / f"v{number}", {"version.py": "", "srt/managers/scheduler.py": "x = 1\n"})
    found = read_source(str(tmp_path))
    assert len(found.trees) == 4
    assert "more than 4 engines" in found.gaps[-1]


@pytest.mark.parametrize("name", ["none", "text.whl", "empty.whl", "cut.whl", "nul\0name"])
def test_what_is_neither_a_folder_nor_a_wheel_is_one_clear_line(tmp_path, name):
    """Missing, a text, nothing, a cut archive."""
    whole = packed(tmp_path / "whole.whl", SGLANG).read_bytes()
    for file, content in {"text.whl": b"hello", "empty.whl": b"", "cut.whl": whole[: len(whole) // 2]}.items():
        (tmp_path / file).write_bytes(content)
    with pytest.raises(TargetError, match=r"^[^\n]+$"):
        read_source(f"{tmp_path}/{name}")


def test_a_member_that_unpacks_to_too_much_is_not_unpacked(tmp_path):
    """An archive's bomb costs no more than the largest file that is read."""
    wheel = tmp_path / "bomb.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in SGLANG.items():
            archive.writestr(f"sglang/{name}", "#" * (FILE_BYTES_MAX * 4) if name == DECODE else text)
    assert only(wheel).verdict("decode-door").presence == "cannot tell"


def test_members_of_a_broken_archive_are_gaps(tmp_path):
    """A byte changed anywhere in a wheel is a clear line or verdicts, and never a traceback."""
    whole = bytearray(packed(tmp_path / "whole.whl", SGLANG).read_bytes())
    draw = random.Random(7)
    for case in range(200):
        broken = bytearray(whole)
        for _ in range(4):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        path = tmp_path / f"{case}.whl"
        path.write_bytes(broken)
        try:
            read_source(str(path))
        except TargetError as error:
            assert "\n" not in str(error)  # noqa: PT017 — either way is right; a traceback is not


@pytest.mark.parametrize("name", sorted(SGLANG))
def test_a_file_with_nothing_in_it_leaves_no_question_without_an_answer(tmp_path, name):
    """Each file in turn: empty, or a line that is no function."""
    for text in ("", "x = 1\n"):
        tree = only(laid_out(tmp_path, {**SGLANG, name: text}))
        assert len(tree.verdicts) == 10
        assert not [verdict.reason for verdict in tree.verdicts if "report it" in verdict.reason]
