"""What must hold of any source tree, however its files were changed: shared by the suite and `make fuzz`."""

from __future__ import annotations

import random
from collections.abc import Iterator

from kvfence.facts.source.files import Unreadable
from kvfence.facts.source.parsed_code import Code
from kvfence.facts.source.questions import CATALOGUE
from support.engine_trees import SGLANG
from support.vllm_trees import VLLM

TREES = {"sglang": SGLANG, "vllm": VLLM}
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

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def python_files(self, folder: str) -> Iterator[str]:
        return iter(sorted(name for name in self.files if name.startswith(folder)))

    def read(self, name: str) -> bytes | Unreadable:
        return self.files[name]

    def names_in(self, _folder: str) -> list[str]:
        return []


def mutated(draw: random.Random, content: bytes) -> bytes:
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


def a_changed_tree_has_every_answer(rng: random.Random) -> None:
    """Present, absent or cannot tell, with a reason of one line; never an exception."""
    engine = rng.choice(sorted(TREES))
    files = {name: text.encode() for name, text in TREES[engine].items()}
    for name in rng.sample(sorted(files), rng.randrange(1, 3)):
        files[name] = mutated(rng, files[name])
    code = Code.read(Memory(files), CATALOGUE[engine].folders)
    for question in CATALOGUE[engine].questions:
        verdict = question.of(code)
        assert verdict.reason
        assert "report it" not in verdict.reason
        assert verdict.reason.isprintable()
