"""Every fix of either engine: there in a whole tree, gone when its lines are taken out, and nothing else with it."""

from __future__ import annotations

import pytest

from kvfence.facts.source.read_source import read_source
from support import engine_trees as sglang
from support import vllm_trees as vllm
from support.engine_trees import SGLANG, changed, laid_out
from support.vllm_trees import VLLM

TREES = {"sglang": SGLANG, "vllm": VLLM}
NEVER = {"no-placeholder"}
"""Absent in the whole tree too, as in every release."""
DECODE = sglang.DECODE
LENGTH_FIX = {"decode-length-check"}
DEFERRED = {"deferred-release", "deferred-release-default"}
DEFAULT = {"deferred-release-default"}
UNKNOWN = "                if req_id not in self._reqs_to_send:"
OUT = [
    ("sglang", {"prefill-door"}, sglang.PREFILL, sglang.PREFILL_GATE, ""),
    ("sglang", {"prefill-result-gate"}, sglang.PREFILL, sglang.RESULT_GATE, ""),
    ("sglang", {"decode-door"}, DECODE, sglang.DECODE_GATE, ""),
    ("sglang", LENGTH_FIX, DECODE, sglang.LENGTH, ""),
    ("sglang", LENGTH_FIX, DECODE, "declared != len", "0 != len"),
    ("sglang", LENGTH_FIX, DECODE, 'prepare_abort(decode_req.req, "prefill sent', 'tell(decode_req.req, "'),
    ("sglang", DEFERRED, DECODE, "self._held.append(", "self.count("),
    ("sglang", DEFERRED, DECODE, "is_abort_release_safe(", "is_old("),
    ("sglang", DEFAULT, sglang.ENVIRON, "EnvBool(True)", "EnvBool(False)"),
    ("sglang", DEFAULT, DECODE, "envs.HOLD_PAGES_BACK.get()", 'get_bool("HOLD", "false")'),
    ("sglang", {"kv-checksum"}, DECODE, sglang.VERIFY, "            if actual is None:\n"),
    ("sglang", {"kv-checksum"}, DECODE, "self.checksum_computer.compute(self.pages_of(req))", "req.expected_checksum"),
    ("sglang", {"kv-canary"}, sglang.RUNNER, sglang.CANARY, "        pass\n"),
    ("sglang", {"bootstrap-host-checked"}, sglang.TOKENIZER, sglang.FIELD_CHECK, ""),
    ("vllm", {"nixl-block-ids-checked"}, vllm.READER, vllm.IDS, ""),
    ("vllm", {"nixl-expiry-checked"}, vllm.READER, vllm.EXPIRY, ""),
    ("vllm", {"nixl-expiry-checked"}, vllm.READER, "if self.is_expired(", "if self._both_ways and self.is_expired("),
    ("vllm", {"nixl-late-read-fails"}, vllm.SENDER, vllm.LATE, ""),
    ("vllm", {"nixl-late-read-fails"}, vllm.SENDER, UNKNOWN, "                if 0:"),
    ("vllm", {"nixl-lease-renewed"}, vllm.SENDER, vllm.RENEWAL, ""),
]


def by_presence(folder, tree, engine):
    (found,) = read_source(str(laid_out(folder, tree, engine))).trees
    presences = {}
    for verdict in found.verdicts:
        presences.setdefault(str(verdict.presence), set()).add(verdict.fix)
    return presences


@pytest.mark.parametrize("engine", TREES)
def test_a_whole_tree_has_every_fix(tmp_path, engine):
    """Nothing is absent but what no release has, and nothing cannot be told."""
    found = by_presence(tmp_path, TREES[engine], engine)
    assert found.keys() <= {"present", "absent"}
    assert found.get("absent", set()) <= NEVER


@pytest.mark.parametrize("case", OUT, ids=lambda case: "+".join(sorted(case[1])))
def test_a_fix_taken_out_is_absent_and_nothing_else_is(tmp_path, case):
    """Each verdict hangs on its own lines."""
    engine, fixes, file, old, new = case
    found = by_presence(tmp_path, changed(TREES[engine], file, old, new), engine)
    assert found["absent"] - NEVER == fixes
    assert "cannot tell" not in found


SHORTER = """        if counts[0].item() < decode_req.seqlen:
            raise Mismatch(decode_req)
"""
IN_PAGES = """        pages = page_num(len(decode_req.req.origin_input_ids))
        got = counts[7]
        if got != pages:
            self.abort(decode_req)
            return
"""
ONE_HOST = """        host = obj.bootstrap_host
        if host == "2.2.2.2":
            raise ValueError(host)
"""
TURNED_ROUND = """            if expected == actual:
                continue
            if True:
"""
BY_HAND = [
    ("decode-length-check", DECODE, sglang.LENGTH, SHORTER),
    ("decode-length-check", DECODE, sglang.LENGTH, IN_PAGES),
    ("bootstrap-host-checked", sglang.TOKENIZER, sglang.FIELD_CHECK, "        obj.bootstrap_host = None\n"),
    ("bootstrap-host-checked", sglang.TOKENIZER, sglang.FIELD_CHECK, ONE_HOST),
    ("kv-checksum", DECODE, sglang.VERIFY, TURNED_ROUND),
]


@pytest.mark.parametrize(("fix", "file", "old", "new"), BY_HAND)
def test_a_fix_written_another_way_is_present(tmp_path, fix, file, old, new):
    """By what it does, not by its wording."""
    assert fix in by_presence(tmp_path, changed(SGLANG, file, old, new), "sglang")["present"]


def test_the_digest_and_its_default_are_told(tmp_path):
    """The reason names the algorithm and whether it is on."""
    for algorithm, default, told in (
        ("adler32_of", "False", "Adler-32, off"),
        ("blake2b_of", "True", "BLAKE2, on"),
    ):
        tree = changed(SGLANG, sglang.CHECKSUM, "adler32_of", algorithm)
        tree = changed(tree, sglang.SETTINGS, "False", default)
        (found,) = read_source(str(laid_out(tmp_path / default, tree))).trees
        assert found.verdict("kv-checksum").reason.startswith(told)


def test_blocks_without_a_date_cannot_be_read_too_late(tmp_path):
    """Where nothing expires, every question about expiry is answered by that."""
    tree = {**VLLM, vllm.SENDER: "class Sender:\n    def new(self):\n        return self.wrapper.get_new_notifs()\n"}
    tree = changed(tree, vllm.READER, vllm.EXPIRY, "")
    tree = changed(
        tree, vllm.READER, "        return time.perf_counter() >= meta.blocks_expiry\n", "        return False\n"
    )
    tree = {
        name: text.replace("is_expired", "is_old").replace("remote_expiry", "remote_port")
        for name, text in tree.items()
    }
    (found,) = read_source(str(laid_out(tmp_path, tree, "vllm"))).trees
    assert {verdict.fix for verdict in found.verdicts if "no date" in verdict.reason} == {
        "nixl-expiry-checked",
        "nixl-late-read-fails",
        "nixl-lease-renewed",
    }
