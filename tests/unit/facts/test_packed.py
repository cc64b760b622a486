"""Logs that are packed, cut off, rotated, in folders and behind patterns."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from kvfence.audit import inspect
from kvfence.errors import TargetError
from kvfence.facts.log_files import LogFiles, rotated
from kvfence.facts.target import read_target, together
from support.audit_logs import HEADLINE
from support.programs import assert_one_clear_line, run_kvfence

LOG = b"noise\n" * 1000 + HEADLINE.format(rank="", pool=900, context=1000).encode() + b"\n"
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def start(pool: int, context: int = 1000) -> bytes:
    settings = (
        b"[2026-06-28 15:16:01] server_args={'model_path': '/m', 'disaggregation_mode': 'null', 'page_size': 1}\n"
    )
    return settings + HEADLINE.format(rank="", pool=pool, context=context).encode() + b"\n"


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("ending", PACKERS)
def test_a_packed_log_is_read_as_what_is_in_it(tmp_path: Path, ending: str):
    """Its facts, the lines they stand on and its node's name are those of the log inside."""
    write(tmp_path, {f"prefill.log.{ending}": PACKERS[ending](LOG)})
    reading = read_target(str(tmp_path / f"prefill.log.{ending}"))
    (node,) = reading.nodes
    assert (node.name, node.number("pool_tokens"), node.facts["pool_tokens"].seen.line) == ("prefill", 900, 1001)
    assert reading.gaps == ()


@pytest.mark.parametrize("ending", PACKERS)
def test_members_behind_one_another_are_all_read(tmp_path: Path, ending: str):
    """A log to which packed pieces were appended is read to its end."""
    write(tmp_path, {f"a.log.{ending}": PACKERS[ending](b"noise\n") + PACKERS[ending](LOG)})
    (node,) = read_target(str(tmp_path / f"a.log.{ending}")).nodes
    assert node.facts["pool_tokens"].seen.line == 1002


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_what_stands_before_the_damage_is_read_and_the_damage_told(tmp_path: Path, ending: str, damage: str):
    """A stream that is cut off or broken gives facts before it and a gap, or one clear line, and no traceback."""
    packed = bytearray(PACKERS[ending](LOG + os.urandom(300_000).hex().encode() + b"\n"))
    if damage == "cut":
        del packed[-4000:]
    else:
        packed[-4000] ^= 0xFF
        packed[-3999] ^= 0xFF
    write(tmp_path, {f"a.log.{ending}": bytes(packed)})
    result = run_kvfence("audit", str(tmp_path / f"a.log.{ending}"), "--format", "json")
    if result.code == 2:
        assert_one_clear_line(result)
    else:
        assert "stream" in str(json.loads(result.out)["not_checked"])


# Without a time in it: processes that collect in different seconds must name the same cases.
@pytest.mark.parametrize("head", [b"\x1f\x8b\x08\x00", b"BZh9", b"\xfd7zXZ\0", gzip.compress(b"", mtime=0)])
def test_a_packed_file_with_nothing_in_it_is_one_clear_line(tmp_path: Path, head: bytes):
    """Of a stream that ends at once nothing is claimed."""
    write(tmp_path, {"a.log": head})
    with pytest.raises(TargetError) as refusal:
        read_target(str(tmp_path / "a.log"))
    assert "\n" not in str(refusal.value)


def test_a_packed_image_is_refused_as_an_image_is(tmp_path: Path):
    """What is packed is looked at as if it were not."""
    write(tmp_path, {"a.gz": gzip.compress(b"\x7fELF\x02\x01\x01" + bytes(200))})
    with pytest.raises(TargetError, match="binary"):
        read_target(str(tmp_path / "a.gz"))


def test_a_packed_gigabyte_of_nothing_is_held_in_bounds(tmp_path: Path):
    """A bomb is read through a piece at a time: 300 megabytes of zeros behind a headline cost no memory to speak of."""
    import tracemalloc  # noqa: PLC0415 — only here

    with gzip.open(tmp_path / "a.log.gz", "wb", compresslevel=1) as bomb:
        bomb.write(LOG + b"noise\n" * 50_000)
        for _turn in range(300):
            bomb.write(bytes(1_000_000))
    tracemalloc.start()
    (node,) = read_target(str(tmp_path / "a.log.gz")).nodes
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert node.number("pool_tokens") == 900
    assert peak < 20_000_000


def without_zstd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)


def test_zstd_without_an_unpacker_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where nothing here can unpack zstd, one line names the package and the way round."""
    without_zstd(monkeypatch)
    write(tmp_path, {"a.log.zst": b"\x28\xb5\x2f\xfd" + bytes(20)})
    with pytest.raises(TargetError, match=r"pip install zstandard.*zstdcat"):
        read_target(str(tmp_path / "a.log.zst"))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.log", "a.log.2.gz", "a.log.10", "a.log.1"], [("a.log", ["a.log.10", "a.log.2.gz", "a.log.1", "a.log"])]),
        (
            ["a.log-20261202", "a.log", "a.log-20261130.gz"],
            [("a.log", ["a.log-20261130.gz", "a.log-20261202", "a.log"])],
        ),
        (["a-2026-12-02.log", "a-2026-12-01.log"], [("a.log", ["a-2026-12-01.log", "a-2026-12-02.log"])]),
        (["worker.0", "worker.1"], [("worker.0", ["worker.0"]), ("worker.1", ["worker.1"])]),
        (["x/a.log", "y/a.log.1"], [("x/a.log", ["x/a.log"]), ("y/a.log.1", ["y/a.log.1"])]),
        (["sglang-0.5.23.txt", "sglang-0.5.19.txt"], [(n, [n]) for n in ("sglang-0.5.23.txt", "sglang-0.5.19.txt")]),
    ],
)
def test_rotated_files_are_put_in_their_order(names: list[str], expected: list[tuple[str, list[str]]]):
    """The oldest comes first, the one that is still written last; what only looks alike stays apart."""
    assert rotated(names) == [LogFiles(name, tuple(parts)) for name, parts in expected]


def named_one_by_one(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.iterdir())]


@pytest.mark.parametrize(
    "targets", [lambda folder: [str(folder)], lambda folder: [f"{folder}/prefill.log*"], named_one_by_one]
)
def test_a_rotated_log_is_one_log(tmp_path: Path, targets: Callable[[Path], list[str]]):
    """Named as a folder, by a pattern or one by one: its starts are of one server, each with its own file."""
    write(
        tmp_path,
        {"prefill.log": start(500), "prefill.log.1": b"noise\n", "prefill.log.2.gz": gzip.compress(start(900))},
    )
    result = inspect(targets(tmp_path))
    assert [(node.name, node.facts["pool_tokens"]) for node in result.nodes] == [("prefill#1", 900), ("prefill#2", 500)]
    (finding,) = [finding for finding in result.findings if finding.rule == "pool-changed-between-starts"]
    assert {Path(place.file).name for place in finding.evidence} == {"prefill.log", "prefill.log.2.gz"}


def test_a_folder_is_read_to_its_depth_and_its_logs_are_told_apart(tmp_path: Path):
    """Logs of two folders below get their path as their name; what is not named like a log is counted."""
    write(tmp_path, {"p/0.log": start(9), "d/0.log": start(8), "d/model.bin": b"\x7fELF" * 99, ".hidden.log": start(7)})
    reading = read_target(str(tmp_path))
    assert sorted((node.name, node.number("pool_tokens")) for node in reading.nodes) == [("d/0", 8), ("p/0", 9)]
    assert reading.gaps == ()
    assert reading.notes == ("named neither like a log nor like a launch file, so not read: 1 file (d/model.bin)",)


def test_a_log_of_a_folder_that_cannot_be_read_is_a_gap(tmp_path: Path):
    """An empty log beside a good one is told and stops nothing."""
    write(tmp_path, {"a.log": start(9), "b.log": b""})
    reading = read_target(str(tmp_path))
    assert len(reading.nodes) == 1
    assert "b.log: empty" in reading.gaps[0]


@pytest.mark.parametrize("target", ["{}", "{}/*.log"])
def test_a_folder_or_pattern_without_logs_is_one_clear_line(tmp_path: Path, target: str):
    """Where nothing is named like a log, that is said."""
    write(tmp_path, {"notes.md": b"x"})
    with pytest.raises(TargetError, match="no file"):
        read_target(target.format(tmp_path))


def test_targets_that_are_no_files_stay_as_they_are():
    """Standard input, a URL and a path that is not there are not put together with anything."""
    names = ["-", "http://127.0.0.1:1", "/nowhere/a.log", "/nowhere/a.log.1"]
    assert together(names) == [LogFiles(name, (name,)) for name in names]
