import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.source_tree import ROOT, Module, is_function, modules

SAYS_NOTHING = re.compile(r"(?:^|_)(?:utils?|helpers?|manager|common|handler|misc)(?:_|$)|^_*(?:data|info)$")
"""Anywhere among the words of a name; `data` and `info` say nothing alone, `server_info` does."""

NO_VERB = re.compile(r"^_*process_")
"""As it is written: `process_request` says not what is done, `ProcessWorkers` are workers in processes."""

IN_CORE = {
    "finished": "ended, or refused: it is the question that the incident asked",
    "done": "ended, or sealed",
    "block": "page",
    "allocation": "lease",
    "generation": "epoch",
    "session": "room",
    "migration": "handoff",
    "dirty": "quarantined",
    "metadata": "manifest",
}
"""Words that core does not use, and what it says instead; elsewhere a peer's word may stand where the peer is met."""

LEFTOVER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
HOME_OF_SOMEBODY = re.compile(r"(?<![\w.])/(?:ro" r"ot|ho" r"me/\w+|Us" r"ers/\w+)(?![\w.-])")
BUILD_PLACE = re.compile(r"(?<![\w./])(?:/wo" r"rk(?![\w.-])|(?:\.\./)*sha" r"red/(?:facts|data|DESIGN|STYLE)\b)")
QUOTED = "tests/corpus/"
"""Logs of real servers stand there as they were written."""


def words(name: str) -> str:
    """`RequestHandler` as `request_handler`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def named(module: Module) -> list[str]:
    """The module's own name, and of each class and function in it."""
    defined = [node.name for node in ast.walk(module.tree) if is_function(node) or isinstance(node, ast.ClassDef)]
    return [module.name.rsplit(".", 1)[-1], *defined]


def say_nothing(tree: list[Module]) -> list[str]:
    return [
        f"{module.file}: {name}"
        for module in tree
        for name in named(module)
        if SAYS_NOTHING.search(words(name)) or NO_VERB.search(name)
    ]


def like_the_standard_library(tree: list[Module]) -> list[str]:
    """Modules and packages that hide one of Python's own from their neighbours."""
    return [str(module.file) for module in tree if module.name.rsplit(".", 1)[-1] in sys.stdlib_module_names]


def of_core(tree: list[Module]) -> list[Module]:
    return [module for module in tree if f"{module.name}.".startswith("kvfence.core.")]


def foreign_words(tree: list[Module]) -> list[str]:
    return [
        f"{module.file}: {name}: say {IN_CORE[word]}"
        for module in of_core(tree)
        for name in named(module)
        for word in sorted(IN_CORE.keys() & {word.removesuffix("s") for word in words(name).split("_")})
    ]


def asserts(tree: list[Module]) -> list[str]:
    return [
        f"{module.file}:{node.lineno}"
        for module in of_core(tree)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assert)
    ]


def tracked_files(root: Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def lines_with(pattern: re.Pattern[str], root: Path, *, but: str | None = None) -> list[str]:
    """Places in tracked text files that match, but for files below one folder."""
    found = []
    for name in tracked_files(root):
        file = root / name
        if (but and name.startswith(but)) or not file.is_file():
            continue
        text = file.read_bytes().decode("utf-8", errors="replace")
        found += [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
    return found


def planted(tmp_path: Path, files: dict[str, str]) -> list[Module]:
    for name, text in files.items():
        file = tmp_path / "kvfence" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return modules(tmp_path / "kvfence")


def test_nothing_has_a_name_that_says_nothing():
    """No module, class or function is called utils, helper, manager, common, handler or process_something."""
    assert say_nothing(modules()) == []


@pytest.mark.parametrize(
    "text",
    [
        "def key_manager(): ...\n",
        "def process_request(): ...\n",
        "def f():\n    def _process_req(): ...\n",
        "class RequestHandler: ...\n",
        "class C:\n    async def common_path(self): ...\n",
        "def info(): ...\n",
    ],
)
def test_a_name_that_says_nothing_is_found_wherever_it_is_defined(tmp_path, text):
    """Classes, functions, methods and what is nested, in either spelling."""
    assert len(say_nothing(planted(tmp_path, {"page.py": text}))) == 1


@pytest.mark.parametrize("name", ["utils.py", "core/helpers.py", "common/__init__.py", "http_utils.py"])
def test_a_file_or_folder_that_says_nothing_is_found(tmp_path, name):
    """Modules and packages are names too."""
    assert len(say_nothing(planted(tmp_path, {name: ""}))) == 1


@pytest.mark.parametrize("name", ["server_info", "uncommon", "handled", "ProcessWorkers", "_run_process", "database"])
def test_names_that_say_something_pass(tmp_path, name):
    """A banned word inside another word, or a noun that begins with process, is no offence."""
    assert say_nothing(planted(tmp_path, {"page.py": f"def {name}(): ...\n"})) == []


def test_no_module_is_named_like_one_of_the_standard_library():
    """A module that hides `json` or `queue` from its neighbours is a trap."""
    assert like_the_standard_library(modules()) == []


def test_a_module_and_a_package_named_like_the_standard_library_are_found(tmp_path):
    """That check can fail, for folders too."""
    assert (
        len(like_the_standard_library(planted(tmp_path, {"a/queue.py": "", "json/__init__.py": "", "b.py": ""}))) == 2
    )


def test_core_uses_our_words():
    """In core a request ends or is refused, a page is a page, a lease has an epoch."""
    assert foreign_words(modules()) == []


def test_a_foreign_word_is_found_in_core_and_nowhere_else(tmp_path):
    """A peer's word may stand where the peer is met."""
    text = "class Finished: ...\ndef free_blocks(): ...\ndef abandoned(): ...\n"
    found = foreign_words(planted(tmp_path, {"core/pool.py": text, "cell/asks.py": text, "core_of.py": text}))
    assert [line.removeprefix(str(tmp_path / "kvfence")).split(":")[:2] for line in found] == [
        ["/core/pool.py", " Finished"],
        ["/core/pool.py", " free_blocks"],
    ]


def test_core_has_no_assert():
    """Assertions vanish under -O; core raises Violation."""
    assert asserts(modules()) == []


def test_an_assert_is_found_in_core_and_nowhere_else(tmp_path):
    """That check can fail."""
    text = "def f(x):\n    assert x\n"
    assert asserts(planted(tmp_path, {"core/pool.py": text, "cell/store.py": text})) == [
        f"{tmp_path}/kvfence/core/pool.py:2"
    ]


def test_nothing_unfinished_is_left_behind():
    """No marker of unfinished work stands in tracked text files."""
    assert lines_with(LEFTOVER, ROOT, but=QUOTED) == []


def test_no_tracked_file_names_a_home_of_somebody():
    """What is committed means the same on every machine."""
    assert lines_with(HOME_OF_SOMEBODY, ROOT, but=QUOTED) == []


def test_no_tracked_file_names_the_place_where_it_was_written():
    """No path of the machine that built it, logs included."""
    assert lines_with(BUILD_PLACE, ROOT) == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (LEFTOVER, "x = 1  # TO" + "DO: later"),
        (HOME_OF_SOMEBODY, "see /ro" + "ot/thing"),
        (HOME_OF_SOMEBODY, "cd /ho" + "me/jane"),
        (BUILD_PLACE, "cd /wo" + "rk && make"),
        (BUILD_PLACE, "'/wo" + "rk/main/x.py'"),
        (BUILD_PLACE, "as ../sha" + "red/facts/x.md says"),
    ],
)
def test_such_a_line_is_found_in_a_tracked_file_and_in_no_other(tmp_path, pattern, line):
    """The checks of text can fail, name file and line, and leave out what is quoted."""
    for name in ("a.md", "untracked.md", f"{QUOTED}log.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"first\n{line}\n", encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "a.md", QUOTED]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert lines_with(pattern, tmp_path, but=QUOTED) == ["a.md:2"]
    assert lines_with(pattern, tmp_path) == ["a.md:2", f"{QUOTED}log.txt:2"]


@pytest.mark.parametrize("line", ["the network/root", "/rootfs", "a/work/b", "in shared/memory", "~/x"])
def test_lines_like_them_pass(line):
    """Words of our own and paths inside a tree are no machine's."""
    assert not HOME_OF_SOMEBODY.search(line)
    assert not BUILD_PLACE.search(line)
