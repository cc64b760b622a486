"""Changed source files: whatever a tree holds, every question has an answer. KVFENCE_FUZZ_CASES asks for more."""

from __future__ import annotations

import os
import random

from kvfence.facts.source.files import Unreadable
from kvfence.facts.source.parsed_code import Code
from kvfence.facts.source.questions import CATALOGUE
from support.engine_trees import SGLANG

CASES = int(os.environ.get("KVFENCE_FUZZ_CASES", "200"))
PIECES = (
    b"\0", b"\xff", b"\t", b"\n", b"(", b")", b"[", b":", b"not ", b"if True:\n", b"return\n", b"lambda: ",
    b"async ", b"await ", b"match x:\n", b"    case _:\n", b"try:\n", b"finally:\n", b"while 1:\n", b"yield ",
    b"class A:\n", b"def add(self, req):\n", b"*", b"**", b"\\\n", b"'''", b"<<<<<<< HEAD\n",
    b"# -*- coding: utf-7 -*-\n",
    b"self.queue.append(req)\n", b"req.to_finish", b"is_refused(req)", b"= ", b":= ", b"del req\n", b"global req\n",
)  # fmt: skip


class Memory:
    """A tree in memory."""

    shown = "tree"

    def __init__(self, files):
        self.files = files

    def python_files(self, folder):
        return iter(sorted(name for name in self.files if name.startswith(folder)))

    def read(self, name) -> bytes | Unreadable:
        return self.files[name]

    def names_in(self, _folder):
        return []


def mutated(draw, content):
    """A few cuts, doublings, swaps of lines, and pieces put in."""
    changed = bytearray(content)
    for _ in range(draw.randrange(1, 6)):
        at, length = draw.randrange(len(changed) + 1), draw.randrange(60)
        match draw.randrange(5):
            case 0:
                del changed[at : at + length]
            case 1:
                changed[at:at] = changed[at : at + length]
            case 2:
                changed[at:at] = draw.choice(PIECES)
            case 3:
                lines = bytes(changed).splitlines(keepends=True)
                draw.shuffle(lines)
                changed = bytearray(b"".join(lines[: draw.randrange(1, len(lines) + 2)]))
            case _:
                lines = bytes(changed).splitlines(keepends=True)
                if lines:
                    lines[draw.randrange(len(lines))] = b"    " * draw.randrange(4) + draw.choice(PIECES) + b"\n"
                changed = bytearray(b"".join(lines))
    return bytes(changed)


def test_a_changed_tree_has_an_answer_to_every_question():
    """Present, absent or cannot tell, with a reason of one line; never an exception."""
    seed = int(os.environ.get("KVFENCE_FUZZ_SEED", "20261202"))
    draw = random.Random(seed)
    for case in range(CASES):
        files = {name: text.encode() for name, text in SGLANG.items()}
        for name in draw.sample(sorted(files), draw.randrange(1, 3)):
            files[name] = mutated(draw, files[name])
        code = Code.read(Memory(files), CATALOGUE["sglang"].folders)
        for question in CATALOGUE["sglang"].questions:
            verdict = question.of(code)
            assert verdict.reason, f"seed {seed}, case {case}"
            assert "\n" not in verdict.reason, f"seed {seed}, case {case}"
