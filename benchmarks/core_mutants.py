"""Does a test or the checker notice when a guard of core is gone, inverted, or off by one?

Each condition of `src/kvfence/core` is changed, one at a time, in memory; a process of its own loads the changed
module and runs the suite's parts in turn, the quickest first, until one fails. A mutant that none of them notices has
survived. `--write` keeps the outcome in docs/mutation.json, from which a run that was cut off goes on (`--again` for
what survived); docs/mutation.md says of each survivor why.

    python benchmarks/core_mutants.py [--list] [--only core/pool.py] [--processes 2] [--write] [--again]
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import importlib.util
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import hypothesis  # noqa: F401 — here already where a process is forked
import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "kvfence" / "core"
STORED = ROOT / "docs" / "mutation.json"
STAGES = (
    ("tests/unit/core",),
    ("tests/stateful",),
    ("tests/unit/verify",),
    ("tests/unit/cell/test_retrace.py", "tests/unit/cell/test_ablation.py", "tests/unit/cell/test_bad_peers.py"),
    ("tests/unit/cell/test_lost_worker.py", "tests/unit/cell/test_stepped_cell.py", "tests/unit/cell/test_taint.py"),
)
"""Parts of the suite: unit tests of core, its stateful tests, the checker, and the cell."""
LIMIT_S = 240.0
"""A part that takes longer hangs, for it takes less than a tenth of that: noticed."""
NOT_LOADED, BROKEN = 90, 91
Edit = Callable[[Any], None]
"""A change of a node in place."""
_ORDERED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module."""

    module: str
    """Its file below core."""
    line: int
    change: str
    was: str
    """The condition as it stands."""
    source: str

    @property
    def name(self) -> str:
        """The same as long as the condition is."""
        told = hashlib.blake2b(f"{self.source}".encode(), digest_size=6).hexdigest()
        return f"{self.module}:{self.line} {self.change} {told}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: the part that noticed, or None."""

    module: str
    line: int
    change: str
    was: str
    noticed_by: str | None
    name: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All of a module, in its order."""
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        for change, was, edit in _edits(node):
            other = copy.deepcopy(tree)
            edit(list(ast.walk(other))[number])
            source = ast.unparse(ast.fix_missing_locations(other))
            yield Mutant(path.name, getattr(was, "lineno", 0), change, ast.unparse(was), source)


def _edits(node: ast.AST) -> Iterator[tuple[str, ast.AST, Edit]]:
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            yield "inverted", node.test, _with_test(lambda test: ast.UnaryOp(ast.Not(), test))
            if not isinstance(node, ast.While):
                yield "never", node.test, _with_test(lambda _: ast.Constant(value=False))
        case ast.comprehension():
            for at, one in enumerate(node.ifs):
                yield "filter gone", one, _without("ifs", at)
        case ast.BoolOp():
            for at, one in enumerate(node.values):
                yield "operand gone", one, _without("values", at)
        case ast.match_case() if node.guard:
            yield "guard gone", node.guard, _without_guard
        case ast.Compare() if len(node.ops) == 1 and type(node.ops[0]) in _ORDERED:
            yield "off by one", node, _off_by_one
        case _:
            return


def _with_test(made: Callable[[ast.expr], ast.expr]) -> Edit:
    def edit(node: Any) -> None:
        node.test = made(node.test)

    return edit


def _without(name: str, at: int) -> Edit:
    def edit(node: Any) -> None:
        del getattr(node, name)[at]

    return edit


def _without_guard(node: Any) -> None:
    node.guard = None


def _off_by_one(node: Any) -> None:
    node.ops[0] = _ORDERED[type(node.ops[0])]()


class Changed(MetaPathFinder, InspectLoader):
    """Loads one module of core from a source of ours."""

    def __init__(self, mutant: Mutant) -> None:
        self.module = f"kvfence.core.{mutant.module.removesuffix('.py')}"
        self._source = mutant.source
        self.is_loaded = False

    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """Of that module alone."""
        if name != self.module:
            return None
        self.is_loaded = True
        return importlib.util.spec_from_loader(name, self)

    def get_source(self, fullname: str) -> str:
        """See `InspectLoader`."""
        del fullname
        return self._source


def begun(mutant: Mutant, stage: Sequence[str]) -> int:
    """A process that runs a part of the suite over the mutant: its number. Its status is 0 where nothing fails."""
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    finder = Changed(mutant)
    sys.meta_path.insert(0, finder)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    options += ["--assert", "plain"]  # else pytest loads kvfence by a finder of its own, since it brings a plugin
    try:
        status = int(pytest.main([*options, *stage]))
    except BaseException:  # noqa: BLE001 — whatever it is, no test has noticed anything
        status = BROKEN
    os._exit(status if finder.is_loaded else NOT_LOADED)


def outcomes(mutants: Sequence[Mutant], processes: int, stages: Sequence[Sequence[str]]) -> Iterator[Outcome]:
    """Of each, as soon as it is known. The parts are run in turn until one notices."""
    todo = [(mutant, 0) for mutant in reversed(mutants)]
    running: dict[int, tuple[Mutant, int, float]] = {}
    while todo or running:
        while todo and len(running) < processes:
            mutant, stage = todo.pop()
            running[begun(mutant, stages[stage])] = (mutant, stage, time.monotonic())
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            for late, (_, _, since) in running.items():
                if time.monotonic() - since > LIMIT_S:
                    os.killpg(late, signal.SIGKILL)
            time.sleep(0.02)
            continue
        mutant, stage, _ = running.pop(pid)
        by = _noticed(status, stages[stage][0])
        if by is None and stage + 1 < len(stages):
            todo.append((mutant, stage + 1))
        else:
            yield Outcome(mutant.module, mutant.line, mutant.change, mutant.was, by, mutant.name)


def _noticed(status: int, stage: str) -> str | None:
    if os.WIFSIGNALED(status):
        return f"{stage}, which hung"
    match os.WEXITSTATUS(status):
        case 0:
            return None
        case 1:
            return stage
        case code if code == NOT_LOADED:
            return None
        case code if code == BROKEN:
            raise SystemExit(f"{stage} could not be run at all")
        case _:
            return f"{stage}, which could not be imported"


def _check_unchanged(module: str, stages: Sequence[Sequence[str]]) -> None:
    """Nothing may fail where nothing is changed: else each mutant would be noticed."""
    same = Mutant(module, 0, "nothing", "", (CORE / module).read_text())
    for stage in stages:
        _, status = os.waitpid(begun(same, stage), 0)
        if status:
            raise SystemExit(f"{stage[0]}: it fails where nothing is changed (status {status}); mend that first")


def main() -> None:
    """Run what is not stored yet, and say what survived."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--list", action="store_true")
    options.add_argument("--only", help="one module's file name")
    options.add_argument("--line", type=int, help="of that module")
    options.add_argument("--parts", nargs="*", help="of the suite, instead of all that there are")
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--write", action="store_true", help=f"keep what came of them in {STORED.name}")
    options.add_argument("--again", action="store_true", help="what survived too")
    asked = options.parse_args()
    os.chdir(ROOT)
    mutants = [one for path in sorted(CORE.glob("*.py")) for one in mutants_of(path)]
    if asked.list:
        for one in mutants:
            print(f"{one.module}:{one.line}: {one.change}: {one.was}")
        return
    stages = [(part,) for part in asked.parts] if asked.parts else STAGES
    _check_unchanged(asked.only or mutants[0].module, stages)
    is_stored = STORED.exists() and not asked.parts
    rows = [Outcome(**row) for row in json.loads(STORED.read_text())] if is_stored else []
    names = {one.name for one in mutants}
    known = {one.name: one for one in rows if one.name in names and (one.noticed_by or not asked.again)}
    left = [one for one in mutants if one.name not in known and asked.only in {None, one.module}]
    left = [one for one in left if asked.line in {None, one.line}]
    for number, one in enumerate(outcomes(left, asked.processes, stages), 1):
        known[one.name] = one
        print(f"{number}/{len(left)} {one.module}:{one.line} {one.change}: {one.was}: {one.noticed_by}", flush=True)
        if asked.write and (number % 20 == 0 or number == len(left)):
            done = [asdict(known[mutant.name]) for mutant in mutants if mutant.name in known]
            STORED.write_text(json.dumps(done, indent=1) + "\n")
    print(Counter(one.noticed_by for one in known.values()))


if __name__ == "__main__":
    main()
