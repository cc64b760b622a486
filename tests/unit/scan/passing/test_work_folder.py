"""A work folder is one scan's own, and empty when that is over."""

from __future__ import annotations

import contextlib

import pytest

from kvfence.errors import TargetError, UsageError
from kvfence.scan.passing.work_folder import work_folder
from kvfence.scan.reading.inputs import sources_of
from support.scan_passes import Lengths, lines_of_log


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "a.jsonl").write_text(lines_of_log(3))
    return sources_of([str(tmp_path / "a.jsonl")])


class KilledError(Exception):
    pass


def killed_in(path, sources, passes):
    with contextlib.suppress(KilledError), work_folder(path) as folder:
        folder.step("first", sources, passes)
        raise KilledError
    return folder.key


def test_it_is_readable_to_nobody_else_and_keeps_its_key_until_the_scan_is_over(tmp_path, sources):
    path = tmp_path / "work"
    key = killed_in(path, sources, [Lengths()])
    modes = {one.stat().st_mode & 0o077 for one in [path, *path.rglob("*")]}
    assert modes == {0}
    with work_folder(path) as folder:
        assert folder.key == key
        assert folder.step("first", sources, [Lengths()]).is_dir()
    assert list(path.iterdir()) == []


def test_without_a_path_it_is_gone_afterwards():
    with work_folder(None) as folder:
        assert folder.path.is_dir()
    assert not folder.path.exists()


@pytest.mark.parametrize("change", ["pass", "content"])
def test_the_work_of_another_scan_is_refused(tmp_path, sources, change):
    path = tmp_path / "work"
    killed_in(path, sources, [Lengths()])
    if change == "content":
        (tmp_path / "a.jsonl").write_text(lines_of_log(4))
    passes = [Lengths(dies_once=path)] if change == "pass" else [Lengths()]
    with pytest.raises(UsageError, match="another scan"), work_folder(path) as folder:
        folder.step("first", sources, passes)


def test_a_folder_of_something_else_is_not_touched(tmp_path):
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(UsageError, match="not the work folder"), work_folder(tmp_path):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


def test_two_scans_cannot_work_in_one(tmp_path):
    path = tmp_path / "work"
    with work_folder(path), pytest.raises(UsageError, match="working here"), work_folder(path):
        pass


def test_where_it_cannot_be_made_the_line_says_so(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match="cannot be the work folder"), work_folder(tmp_path / "file" / "work"):
        pass
