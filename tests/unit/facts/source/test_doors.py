"""The gates of SGLang, by what the code does: as it is, with a gate taken out, put in by hand, or spelt another way."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvfence.facts.source.read_source import read_source
from support.engine_trees import (
    BATCH,
    DECODE,
    DECODE_GATE,
    PREFILL,
    PREFILL_GATE,
    RESULT_GATE,
    SCHEDULER,
    SGLANG,
    SHARED,
    Tree,
    changed,
    laid_out,
    packed,
    unfixed,
)

GATES = ("prefill-door", "prefill-result-gate", "decode-door")


def verdicts(folder: Path, tree: Tree) -> dict[str, str]:
    (found,) = read_source(str(laid_out(folder, tree))).trees
    return {verdict.fix: str(verdict.presence) for verdict in found.verdicts}


def gates(folder: Path, tree: Tree) -> list[str]:
    found = verdicts(folder, tree)
    return [found[gate] for gate in GATES]


def test_a_tree_with_every_gate_has_every_gate(tmp_path):
    """Each is present, with the line of the gate as evidence."""
    (tree,) = read_source(str(laid_out(tmp_path, SGLANG))).trees
    found = {verdict.fix: verdict for verdict in tree.verdicts}
    assert [found[gate].presence for gate in GATES] == ["present"] * 3
    assert [found[gate].seen.text.split("(")[0] for gate in GATES] == [
        "if refused_and_holds_nothing",
        "if is_refused",
        "if not is_retracted and refused_and_holds_nothing",
    ]


def test_a_tree_without_gates_has_none_of_them(tmp_path):
    """Each is absent, with the line that a refused request comes to."""
    (tree,) = read_source(str(laid_out(tmp_path, unfixed()))).trees
    found = {verdict.fix: verdict for verdict in tree.verdicts}
    assert [found[gate].presence for gate in GATES] == ["absent"] * 3
    assert "KVSender" in found["prefill-door"].seen.text
    assert ".send(" in found["prefill-result-gate"].seen.text


@pytest.mark.parametrize("version", ["0.4.5", "0.5.19", "0.5.20", "99.0", "nightly+fork", "text"])
@pytest.mark.parametrize("tree", [SGLANG, unfixed()], ids=["fixed", "unfixed"])
def test_the_version_string_decides_nothing(tmp_path, version, tree):
    """The same code under any version string has the same verdicts."""
    renamed = {**tree, "version.py": f'__version__ = "{version}"\n'}
    assert verdicts(tmp_path / "a", renamed) == verdicts(tmp_path / "b", tree)


@pytest.mark.parametrize(
    ("gate", "file", "text"),
    [
        ("prefill-door", PREFILL, PREFILL_GATE),
        ("decode-door", DECODE, DECODE_GATE),
        ("prefill-result-gate", PREFILL, RESULT_GATE),
    ],
)
def test_one_gate_taken_out_is_absent_and_the_others_stay(tmp_path, gate, file, text):
    """Each verdict is about its own gate."""
    found = verdicts(tmp_path, changed(SGLANG, file, text))
    assert {name for name in GATES if found[name] == "absent"} == {gate}


BY_HAND = {
    "asks the attribute": "        if req.to_finish is not None:\n            return\n",
    "asks it as it is": "        if req.to_finish:\n            self.tell(req)\n            return\n",
    "asks by getattr": '        if getattr(req, "to_finish", None):\n            raise ValueError(req)\n',
    "keeps the answer first": "        gone = is_refused(req)\n        if gone:\n            return\n",
    "asks in an own method": "        if self.turns_away(req):\n            return\n",
    "walrus": "        if refused := is_refused(req):\n            return\n",
}
OWN_METHOD = "class PrefillBootstrapQueue:\n    def turns_away(self, req):\n        return bool(is_refused(req))\n\n"


@pytest.mark.parametrize("gate", BY_HAND.values(), ids=BY_HAND)
def test_a_gate_put_in_by_hand_is_present_however_it_is_spelt(tmp_path, gate):
    """A backport need not look like the release that it is from."""
    tree = changed(unfixed(), PREFILL, "        if not self.create_sender", gate + "        if not self.create_sender")
    tree = changed(tree, PREFILL, "class PrefillBootstrapQueue:\n", OWN_METHOD)
    assert gates(tmp_path, tree) == ["present", "absent", "absent"]


def test_a_gate_in_what_the_door_calls_is_present(tmp_path):
    """The door itself may ask nothing: what it calls first leaves."""
    old = "        if len(req.origin_input_ids) > self.longest:\n"
    tree = changed(unfixed(), PREFILL, old, "        if is_refused(req):\n            return False\n" + old)
    assert gates(tmp_path, tree)[0] == "present"


def test_a_gate_before_every_call_of_the_door_is_present(tmp_path):
    """The scheduler turns refused requests away, and both doors stay as they were."""
    old = '        if self.mode == "prefill":\n'
    tree = changed(unfixed(), SCHEDULER, old, "        if req.to_finish is not None:\n            return\n" + old)
    assert gates(tmp_path, tree) == ["present", "absent", "present"]


NO_GATE = {
    "asks finished": "        if req.finished():\n            return\n",
    "only tells": "        if is_refused(req):\n            self.tell(req)\n",
    "asks after": "        self.queue.append(req)\n        if is_refused(req):\n            return\n",
    "lets only refused through": "        if not is_refused(req):\n            return\n",
    "never": "        if is_refused(req) and False:\n            return\n",
    "asks another thing": "        if req.stream:\n            return\n",
}


@pytest.mark.parametrize("gate", NO_GATE.values(), ids=NO_GATE)
def test_what_looks_like_a_gate_and_is_none_is_absent(tmp_path, gate):
    """The incident's own gate asks "finished?", which another attribute answers."""
    tree = changed(unfixed(), PREFILL, "        if not self.create_sender", gate + "        if not self.create_sender")
    assert gates(tmp_path, tree)[0] == "absent"


def test_finished_is_the_right_question_where_the_refusal_stands_there(tmp_path):
    """Which attribute holds the refusal is read from the tree."""
    gate = NO_GATE["asks finished"]
    tree = changed(unfixed(), PREFILL, "        if not self.create_sender", gate + "        if not self.create_sender")
    tree = changed(tree, BATCH, "        self.to_finish = FINISH_ABORT", "        self.finished_reason = FINISH_ABORT")
    assert gates(tmp_path, tree)[0] == "present"


@pytest.mark.parametrize(
    "gate",
    [
        "        if settings.strict and is_refused(req):\n            return\n",
        "        if is_refused(req) and envs.STRICT.get():\n            return\n",
        "        if elsewhere(req):\n            return\n",
    ],
)
def test_a_gate_that_hangs_on_a_setting_or_on_foreign_code_cannot_be_told(tmp_path, gate):
    """Neither present nor absent is said of it."""
    tree = changed(unfixed(), PREFILL, "        if not self.create_sender", gate + "        if not self.create_sender")
    assert gates(tmp_path, tree)[0] == "cannot tell"


def test_a_wheel_is_read_as_its_tree(tmp_path):
    """Without unpacking, with the same verdicts, and places below the wheel's name."""
    wheel = packed(tmp_path / "sglang-0.5.99-py3-none-any.whl", SGLANG)
    (tree,) = read_source(str(wheel)).trees
    assert {verdict.fix: str(verdict.presence) for verdict in tree.verdicts} == verdicts(tmp_path / "a", SGLANG)
    assert tree.verdicts[0].seen.file == f"{wheel}/sglang/{PREFILL}"
    assert tree.version_said == "0.5.99"


@pytest.mark.parametrize("file", [PREFILL, SHARED, BATCH])
@pytest.mark.parametrize("text", ["print 'two'\n", "<<<<<<< HEAD\nx = 1\n=======\n", "x = (\n", b"\xff\xfe\0"])
def test_a_file_that_does_not_parse_never_makes_absent(tmp_path, file, text):
    """Python 2, merge markers, a cut, no text: what hangs on that file cannot be told, and the reason names it."""
    (tree,) = read_source(str(laid_out(tmp_path, {**unfixed(), file: text}))).trees
    (verdict,) = [verdict for verdict in tree.verdicts if verdict.fix == "prefill-door"]
    assert verdict.presence == "cannot tell"
    assert file in verdict.reason


def test_a_prompt_that_is_too_long_and_leaves_at_once_is_no_placeholder(tmp_path):
    """Refused without a queue is present; the release's own way is absent."""
    old = "            req.set_finish_with_abort(error)\n            self._add_request_to_queue(req)\n"
    assert verdicts(tmp_path / "a", SGLANG)["no-placeholder"] == "absent"
    tree = changed(SGLANG, SCHEDULER, old, "            self.streamer.refuse(req, error)\n")
    assert verdicts(tmp_path / "b", tree)["no-placeholder"] == "present"
