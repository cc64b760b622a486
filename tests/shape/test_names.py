import ast
import re
import subprocess
import sys

import pytest

from support.source_tree import ROOT, Module, is_function, modules

BANNED = re.compile(r"(?:^|_)(?:utils?|helpers?|manager|common|handler|misc)(?:_|$)|^(?-i:process_)", re.IGNORECASE)
LEFTOVER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
OF_A_MACHINE = re.compile(r"(?<![\w.])/(?:wo" r"rk|ro" r"ot|home/\w+)/")


def named(module: Module) -> list[str]:
    """Names that the module defines, and its own."""
    defined = [node.name for node in ast.walk(module.tree) if is_function(node) or isinstance(node, ast.ClassDef)]
    return [module.name.rsplit(".", 1)[-1], *(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name) for name in defined)]


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def test_nothing_has_a_name_that_says_nothing():
    """No module, class or function is called utils, helper, manager, common, handler or process_something."""
    assert [(module.name, name) for module in modules() for name in named(module) if BANNED.search(name)] == []


@pytest.mark.parametrize("name", ["utils", "key_manager", "process_request", "RequestHandler", "common"])
def test_the_ban_catches_such_names(name):
    """The check can fail."""
    assert BANNED.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))


def test_no_module_is_named_like_one_of_the_standard_library():
    """A module that hides `json` or `queue` from its neighbours is a trap."""
    own = {module.name.rsplit(".", 1)[-1] for module in modules() if module.file.name != "__init__.py"}
    assert own & set(sys.stdlib_module_names) == set()


def test_core_says_ended_and_not_finished():
    """In core a request that entered is over, ended or refused; `finished` is the word that the incident asked."""
    core = [module for module in modules() if module.name.startswith("kvfence.core")]
    assert [(module.name, name) for module in core for name in named(module) if "finished" in name.lower()] == []


def test_core_has_no_assert():
    """Assertions vanish under -O; core raises Violation."""
    core = [module for module in modules() if module.name.startswith("kvfence.core")]
    asserts = [(module.name, node) for module in core for node in ast.walk(module.tree) if isinstance(node, ast.Assert)]
    assert [f"{name}:{node.lineno}" for name, node in asserts] == []


def test_nothing_unfinished_is_left_behind():
    """No marker of unfinished work stands in tracked text files."""
    assert _matching(LEFTOVER) == []


def test_no_tracked_file_names_a_path_of_somebodys_machine():
    """What is committed means the same on every machine."""
    assert _matching(OF_A_MACHINE) == []


def test_the_checks_of_text_can_fail():
    """Both patterns match what they are for."""
    assert LEFTOVER.search("# TO" + "DO: later")
    assert OF_A_MACHINE.search("see /ro" + "ot/thing")


def _matching(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for name in tracked_files():
        file = ROOT / name
        if name.startswith("tests/corpus/") or not file.is_file():
            continue  # logs of real servers are quoted as they are
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
    return found
