"""What is refused before it is read, each with one line that says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kvfence.errors import TargetError
from kvfence.facts.target import node_name, read_target
from support.audit_logs import HEADLINE, reading


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "binary"),
        (bytes(10_000), "binary"),
        (os.urandom(4096), "binary"),
        ("max_total_num_tokens=1".encode("utf-16"), "iconv"),
    ],
    ids=["empty", "executable", "zeros", "noise", "utf-16"],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, says: str):
    """A file that is not a log in text is refused by what it is."""
    with pytest.raises(TargetError, match=says) as refusal:
        reading(tmp_path, content)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "says"), [("absent.log", "no such file"), (".", "no file in this"), ("a\0b", "opened")]
)
def test_what_cannot_be_opened_is_refused(tmp_path: Path, name: str, says: str):
    """A target that is not a readable file is refused by why."""
    target = f"{tmp_path}/{name}"
    with pytest.raises(TargetError, match=says):
        read_target(target)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path):
    """Permission denied is said as such."""
    path = tmp_path / "secret.log"
    path.write_text("x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(TargetError, match="permission denied"):
        read_target(str(path))


def test_a_hole_at_the_start_is_no_binary(tmp_path: Path):
    """A log that was rotated by copy and truncate begins with NULs and is read."""
    hole = bytes(5000) + b"\n" + HEADLINE.format(rank="", pool=9, context=8).encode()
    (node,) = reading(tmp_path, hole).nodes
    assert node.number("pool_tokens") == 9


def test_a_text_of_something_else_gives_no_node(tmp_path: Path):
    """A text that is no engine's log is read and gives nothing."""
    assert reading(tmp_path, "Dear sir,\nthe KV of our firm …\n").nodes == ()


def test_a_name_is_printable():
    """Control characters and bytes that are no text do not get into a node's name."""
    assert node_name("/logs/\x1b[31mred.log") == "?[31mred"
    assert node_name(os.fsdecode(b"/logs/\xff.log")) == "?"
    assert node_name("-") == "stdin"
