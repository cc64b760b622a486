"""Rules are compiled once for many runs, and never taken from what somebody else could have written."""

from __future__ import annotations

import pytest

from kvfence.scan.credentials import rule_store
from kvfence.scan.credentials.finding import Finder, Kinds


@pytest.fixture
def compiled(monkeypatch):
    """How often rules were compiled, which is a small set here."""
    times = []
    small = rule_store.prefilter.compiled(["needle"])
    monkeypatch.setattr(rule_store, "database", lambda kinds: times.append(kinds) or small)
    return times


def test_what_was_compiled_is_used_again(tmp_path, compiled):
    """And for its owner only; other kinds are another file."""
    first = rule_store.rules_of(Kinds(), tmp_path / "rules")
    assert rule_store.rules_of(Kinds(), tmp_path / "rules") == first
    assert len(compiled) == 1
    rule_store.rules_of(Kinds(personal=True), tmp_path / "rules")
    assert len(compiled) == 2
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "rules").iterdir()} == {0o600}


@pytest.mark.parametrize("broken", [b"", b"no rules", b"\0" * 5000])
def test_a_broken_file_is_compiled_anew(tmp_path, compiled, broken):
    """Cut, overwritten, of another processor."""
    folder = tmp_path / "rules"
    whole = rule_store.rules_of(Kinds(), folder)
    (path,) = folder.iterdir()
    path.write_bytes(broken)
    assert rule_store.rules_of(Kinds(), folder) == whole
    assert len(compiled) == 2
    assert path.read_bytes() == whole


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, compiled):
    """Nor one that cannot be made; rules are compiled then."""
    tmp_path.chmod(0o777)
    rule_store.rules_of(Kinds(), tmp_path)
    (tmp_path / "file").write_text("")
    rule_store.rules_of(Kinds(), tmp_path / "file" / "rules")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert len(compiled) == 2


def test_the_kept_rules_find_what_fresh_ones_find(tmp_path):
    """The whole set, through the file."""
    rule_store.rules_of(Kinds(), tmp_path / "rules")
    finder = Finder(Kinds(), rule_store.rules_of(Kinds(), tmp_path / "rules"))
    assert [one.kind for one in finder.find(memoryview(b"redis://:kJ83kdLqW@cache/0"))] == ["connection-string"]
