"""How fast `kvfence scan` is, in one run beside named peers on the same made-up log, and what it holds.

Reading beside DuckDB's and Polars' own JSON readers (which keep bodies as they are, and make no text of them); foreign
text beside datasketch's MinHash-LSH over shingles, with how much each finds of what was planted; the whole program by
its time, the memory of all its processes together, and its work folder. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kvfence.scan.exchange import Unread
from kvfence.scan.reading.exchanges import batches_of, exchanges_of
from kvfence.scan.reading.inputs import sources_of
from support.foreign_texts import searched
from support.scan_corpus.judging import is_promised, judged
from support.scan_corpus.plan import Kind, Plan
from support.scan_corpus.writing import Corpus, write

SEED = 20_261_205
MB = 1_000_000
POLL_S = 0.25
SHINGLE, PERMUTATIONS = 5, 64
"""Words of a shingle, and hash functions of a MinHash."""
PIECES_CHARS = ((512, 256), (256, 64), (128, 32), (64, 16))
"""Texts are cut into pieces for LSH, as of a whole prompt a leak is too small a part to be seen: how long each is, and
how far behind the last it begins. The next pair is tried where too little was found."""
ALIKE = 0.3


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds, and what came of it."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def reading(log: Path) -> None:
    """A line for each reader."""
    size = log.stat().st_size
    (source,) = sources_of([str(log)])

    def ours() -> int:
        return sum(0 if isinstance(batch, Unread) else batch.num_rows for batch in batches_of(source))

    readers: dict[str, Callable[[], object]] = {"kvfence, normal form in Arrow, one process": ours}
    if importlib.util.find_spec("duckdb"):
        readers["DuckDB read_json, id, user and bodies as they are, all threads"] = lambda: _with_duckdb(log)
    if importlib.util.find_spec("polars"):
        readers["Polars scan_ndjson, the same, all threads"] = lambda: _with_polars(log)
    for name, work in readers.items():
        seconds, rows = timed(work)
        print(f"| reading | {name} | {size / MB / seconds:,.0f} MB/s | {rows:,} rows |", flush=True)


def _with_duckdb(log: Path) -> object:
    import duckdb  # noqa: PLC0415 — a peer

    columns = "{'id': 'VARCHAR', 'user': 'VARCHAR', 'created': 'DOUBLE', 'request': 'JSON', 'response': 'JSON'}"
    asked = f"read_json('{log}', format='newline_delimited', columns={columns}, maximum_object_size=268435456)"
    query = f"SELECT count(*), sum(length(request::VARCHAR)), sum(length(response::VARCHAR)) FROM {asked}"
    return duckdb.sql(query).fetchall()[0][0]


def _with_polars(log: Path) -> object:
    import polars as pl  # noqa: PLC0415 — a peer

    schema = {"id": pl.String, "user": pl.String, "created": pl.Float64, "request": pl.String,
              "response": pl.String}  # fmt: skip
    table = pl.scan_ndjson(log, schema=schema).collect()
    return table.height


def alone(corpus: Corpus, folder: Path) -> None:
    """The search for foreign text and nothing else, in one process, with both its readings of the log."""
    seconds, matches = timed(lambda: searched(folder, [str(log) for log in corpus.logs]))
    assert isinstance(matches, tuple)
    pairs = {(match.response.id, match.source.tenant or "") for match in matches}
    _said(corpus, "kvfence, one process, the log read twice", seconds, pairs)


def lsh(corpus: Corpus) -> None:
    """With smaller and smaller pieces, until as much is found or the smallest are tried."""
    for chars, step in PIECES_CHARS if importlib.util.find_spec("datasketch") else ():
        if _lsh(corpus, chars, step):
            return


def _lsh(corpus: Corpus, chars: int, step: int) -> bool:
    """Prompts' pieces in an index, answers' pieces asked of it: a pair is found where they are of the leak's two."""
    from datasketch import MinHashLSH  # noqa: PLC0415 — a peer

    (source,) = sources_of([str(corpus.logs[0])])
    read = [one for one in exchanges_of(source) if not isinstance(one, Unread)]
    owners = {one.id: one.tenant for one in read}

    def work() -> set[tuple[str, str]]:
        index = MinHashLSH(threshold=ALIKE, num_perm=PERMUTATIONS)
        for one in read:
            for part, text in (("p", one.prompt), ("a", one.answer)):
                for at in range(0, len(text), step):
                    index.insert((one.id, part, at), _hashed(text[at : at + chars]), check_duplication=False)
        pairs = set()
        for one in read:
            for at in range(0, len(one.answer), step):
                for other, _, _ in index.query(_hashed(one.answer[at : at + chars])):
                    if owners[other] != one.tenant:
                        pairs.add((one.id, owners[other] or ""))
        return pairs

    seconds, pairs = timed(work)
    assert isinstance(pairs, set)
    return _said(corpus, f"datasketch MinHash-LSH, texts in memory, pieces of {chars} every {step}", seconds, pairs)


def _said(corpus: Corpus, who: str, seconds: float, pairs: set[tuple[str, str]]) -> bool:
    """A line of the table; whether all was found that may not be missed."""
    promised = [leak for leak in corpus.known() if leak.kind is Kind.LEAK and is_promised(leak)]
    seen = sum((leak.response_id, leak.source_tenant) in pairs for leak in promised)
    speed = corpus.size_bytes / MB / seconds
    came = f"{seen} of {len(promised)} leaks, {len(pairs):,} pairs"
    print(f"| foreign text | {who} | {speed:,.2f} MB/s | {came} |", flush=True)
    return seen == len(promised)


def _hashed(piece: str) -> object:
    from datasketch import MinHash  # noqa: PLC0415 — a peer

    words = piece.split()
    made = MinHash(num_perm=PERMUTATIONS)
    made.update_batch([" ".join(words[at : at + SHINGLE]).encode() for at in range(max(1, len(words) - SHINGLE + 1))])
    return made


def whole(corpus: Corpus, folder: Path, workers: int) -> None:
    """The program as it is installed, on all of the corpus."""
    import json  # noqa: PLC0415 — for the report only

    report, work = folder / "report.json", folder / "work"
    options = ["--format", "json", "-o", str(report), "--workers", str(workers), "--work", str(work)]
    command = [sys.executable, "-m", "kvfence", "scan", *map(str, corpus.logs), *options]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        peak = [0, 0]
        watch = threading.Thread(target=_watch, args=(process, work, peak))
        watch.start()
        _, said = process.communicate()
        watch.join()
    seconds = time.perf_counter() - began
    if process.returncode not in {0, 1, 3}:
        raise SystemExit(said.decode())
    matches = json.loads(report.read_bytes())["matches"]
    found = judged(corpus.known(), matches)
    size = corpus.size_bytes
    print(
        f"| whole scan, {size / 1e9:.3f} GB | kvfence, {workers} at a time "
        f"| {size / MB / seconds:,.1f} MB/s, {seconds:,.0f} s "
        f"| {len(found.promised) - len(found.missed)} of {len(found.promised)} leaks, precision {found.precision:.2%}; "
        f"memory {peak[0] / 2**30:.2f} GiB; work folder {peak[1] / MB:,.0f} MB |",
        flush=True,
    )


def _watch(process: subprocess.Popen[bytes], work: Path, peak: list[int]) -> None:
    """The most memory that all its processes had together (shared pages in part), and the most bytes in its folder."""
    while process.poll() is None:
        peak[0] = max(peak[0], sum(_memory(pid) for pid in _tree(process.pid)))
        peak[1] = max(peak[1], _size(work))
        time.sleep(POLL_S)


def _tree(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for one in threads for child in (one / "children").read_text("ascii").split()]
    except OSError:
        return []
    return [pid, *(one for child in children for one in _tree(child))]


def _memory(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:"))


def _size(folder: Path) -> int:
    """Of all files in it, less those that go while they are counted."""
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(at, name).stat().st_size
            except OSError:
                continue
    return total


def main() -> None:
    """Print the rows."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    options.add_argument("--megabytes", type=float, nargs="*", default=[250, 1000], help="sizes of whole scans")
    options.add_argument("--lsh-megabytes", type=float, default=4)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--folder", type=Path, help="where the logs are made; they are deleted afterwards")
    asked = options.parse_args()
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"load {os.getloadavg()[0]:.1f} at the start\n")  # fmt: skip
    print("| what | by | speed | what came of it |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=asked.folder) as made:
        few = Path(made) / "few"
        few.mkdir()
        small = write(Plan(seed=SEED, size_bytes=int(asked.lsh_megabytes * MB), leaks=0.3, prompt_bytes=3000), few)
        alone(small, few)
        lsh(small)
        whole(small, few, 1)
    for number, megabytes in enumerate(asked.megabytes):
        with tempfile.TemporaryDirectory(dir=asked.folder) as made:
            seconds, corpus = timed(lambda size=megabytes, at=made: _made(size, Path(at)))
            assert isinstance(corpus, Corpus)
            print(f"| making it up | the corpus of {megabytes:,.0f} MB | {megabytes / seconds:,.0f} MB/s | "
                  f"{corpus.exchanges:,} exchanges |", flush=True)  # fmt: skip
            if number == 0:
                reading(corpus.logs[0])
            whole(corpus, Path(made), asked.workers)


def _made(megabytes: float, folder: Path) -> Corpus:
    return write(Plan(seed=SEED, size_bytes=int(megabytes * MB), tenants=200), folder, file_bytes=1 << 30)


if __name__ == "__main__":
    main()
