"""Small trees of the same shape as the engines', in our own words: enough for every question, and nothing else.

`SGLANG` is a tree with every fix in; a test takes one out, or spells it another way, with `without` and `with_text`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

Tree = Mapping[str, str]

_SCHEDULER = """
class Scheduler:
    def __init__(self):
        self.prefill_queue = PrefillBootstrapQueue(self)
        self.decode_queue = DecodePreallocQueue(self)

    def handle_generate_request(self, recv_req):
        req = Req(recv_req)
        error = validate_input_length(req, self.max_req_input_len)
        if error:
            req.set_finish_with_abort(error)
            self._add_request_to_queue(req)
            return
        self._add_request_to_queue(req)

    def _add_request_to_queue(self, req):
        if self.mode == "prefill":
            self.prefill_queue.add(req, 8)
        elif self.mode == "decode":
            self.decode_queue.add(req)
        else:
            self.waiting_queue.append(req)

    def retire_unadmitted_request(self, req):
        self.streamer.stream([req])
"""

_BATCH = """
class Req:
    def __init__(self, asked):
        self.origin_input_ids = asked.input_ids
        self.to_finish = None
        self.finished_reason = None

    def finished(self):
        return self.finished_reason is not None

    def set_finish_with_abort(self, message):
        self.origin_input_ids = [0]
        self.to_finish = FINISH_ABORT(message)
"""

_SHARED = """
def is_refused(req):
    return isinstance(req.to_finish, FINISH_ABORT) or isinstance(req.finished_reason, FINISH_ABORT)


def refused_and_holds_nothing(req):
    return is_refused(req) and not (req.is_retracted or req.kv.holds_kv)
"""

PREFILL_GATE = """        if refused_and_holds_nothing(req):
            self.scheduler.retire_unadmitted_request(req)
            return
"""
DECODE_GATE = """        if not is_retracted and refused_and_holds_nothing(req):
            self.scheduler.retire_unadmitted_request(req)
            return
"""
HOLD = """                if self.hold_back and decode_req.receiver.abort_sent:
                    self.hold(decode_req)
                    continue
"""
LENGTH = """        declared = counts[7].item()
        if declared != len(decode_req.req.origin_input_ids):
            prepare_abort(decode_req.req, "prefill sent another length")
            return
"""
VERIFY = "            if actual != expected:\n"
FIELD_CHECK = """        if obj.bootstrap_host not in self.allowed_hosts:
            raise ValueError("bootstrap_host is not for clients")
"""
CANARY = "        self.canary = install_canary(self.pool)\n"
RESULT_GATE = """            if is_refused(req):
                self.retire(req)
                continue
"""

_PREFILL = f"""
from sglang.srt.disaggregation.utils import is_refused, refused_and_holds_nothing


class PrefillBootstrapQueue:
    def add(self, req, heads):
{PREFILL_GATE}        if not self.create_sender(req, heads):
            return
        self.queue.append(req)

    def create_sender(self, req, heads):
        if len(req.origin_input_ids) > self.longest:
            return False
        req.disagg_kv_sender = KVSender(req.bootstrap_room)
        return True


class PrefillMixin:
    def take_prefill_result(self, batch, result):
        for req, token in zip(batch.reqs, result.tokens):
{RESULT_GATE}            req.output_ids.append(token)
            self.send_kv_chunk(req, last_chunk=True)

    def send_kv_chunk(self, req, last_chunk=False):
        req.disagg_kv_sender.send(self.pages_of(req))
"""

_DECODE = f"""
from sglang.srt.disaggregation.utils import refused_and_holds_nothing


class DecodePreallocQueue:
    def add(self, req, is_retracted=False):
        \"\"\"Add a request.\"\"\"
{DECODE_GATE}        if is_retracted:
            self.retracted_queue.append(req)
        else:
            receiver = KVReceiver(req.bootstrap_room)
            self.queue.append((req, receiver))


class DecodeTransferQueue:
    def __init__(self):
        self.hold_back = envs.HOLD_PAGES_BACK.get()
        self._held = []

    def add(self, decode_req):
        self.queue.append(decode_req)

    def pop_transferred(self):
        for index, (decode_req, poll) in enumerate(zip(self.queue, self.polls())):
            if poll == KVPoll.Failed:
                prepare_abort(decode_req.req, "transfer failed")
{HOLD}                self.give_back(decode_req)
            elif poll == KVPoll.Success:
                self.commit(decode_req)

    def hold(self, decode_req):
        self._held.append((decode_req, self.now() + 30))

    def resolve(self):
        for decode_req, deadline in self._held:
            if self.manager.is_abort_release_safe(decode_req.room) or self.now() >= deadline:
                self.give_back(decode_req)

    def commit(self, decode_req):
        token, counts, room = self.metadata_buffers.get_buf(decode_req.row)
        if room[0].item() != decode_req.req.bootstrap_room:
            prepare_abort(decode_req.req, "another room's row")
            return
{LENGTH}        decode_req.req.output_ids.append(token[0].item())


class DecodeMixin:
    def verify(self, batch):
        for req in batch.reqs:
            expected = req.expected_checksum
            actual = self.checksum_computer.compute(self.pages_of(req))
            if actual != expected:
                prepare_abort(req, "checksum mismatch")
"""

_ENVIRON = """
class Envs:
    HOLD_PAGES_BACK = EnvBool(True)
"""

_CHECKSUM = """
class ChecksumComputer:
    def compute(self, pages):
        if not get_disagg().enable_kv_checksum:
            return 0
        return adler32_of(pages)
"""

_SETTINGS = """
class DisaggSettings:
    enable_kv_checksum: bool = False
"""

_RUNNER = f"""
from sglang.srt.kv_canary.api import install_canary


class ModelRunner:
    def load(self):
{CANARY}"""

_IO = """
class GenerateReqInput:
    input_ids: list
    bootstrap_host: str = None
"""

_TOKENIZER = f"""
class TokenizerManager:
    def generate_request(self, obj):
{FIELD_CHECK}        if obj.bootstrap_host is None:
            raise ValueError("no host")
        return Tokenized(obj.input_ids, bootstrap_host=obj.bootstrap_host)
"""

SGLANG: Tree = {
    "version.py": '__version__ = "0.5.99"\n',
    "srt/managers/scheduler.py": _SCHEDULER,
    "srt/managers/schedule_batch.py": _BATCH,
    "srt/disaggregation/utils.py": _SHARED,
    "srt/disaggregation/prefill.py": _PREFILL,
    "srt/disaggregation/decode.py": _DECODE,
    "srt/disaggregation/checksum.py": _CHECKSUM,
    "srt/environ.py": _ENVIRON,
    "srt/arg_groups/disagg.py": _SETTINGS,
    "srt/model_executor/model_runner.py": _RUNNER,
    "srt/managers/io_struct.py": _IO,
    "srt/managers/tokenizer_manager.py": _TOKENIZER,
}
PREFILL, DECODE, SHARED, SCHEDULER, BATCH, ENVIRON, CHECKSUM, SETTINGS, RUNNER, TOKENIZER = (
    "srt/disaggregation/prefill.py",
    "srt/disaggregation/decode.py",
    "srt/disaggregation/utils.py",
    "srt/managers/scheduler.py",
    "srt/managers/schedule_batch.py",
    "srt/environ.py",
    "srt/disaggregation/checksum.py",
    "srt/arg_groups/disagg.py",
    "srt/model_executor/model_runner.py",
    "srt/managers/tokenizer_manager.py",
)


def changed(tree: Tree, file: str, old: str, new: str = "") -> dict[str, str]:
    """The tree with one piece of a file replaced; that piece must be there."""
    assert old in tree[file]
    return {**tree, file: tree[file].replace(old, new)}


def unfixed() -> dict[str, str]:
    """The tree with every gate taken out."""
    tree = changed(SGLANG, PREFILL, PREFILL_GATE)
    return changed(changed(tree, PREFILL, RESULT_GATE), DECODE, DECODE_GATE)


def laid_out(folder: Path, tree: Mapping[str, str | bytes], package: str = "sglang") -> Path:
    """The tree as a package in a site-packages folder, which is returned."""
    for name, text in tree.items():
        path = folder / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def packed(path: Path, tree: Mapping[str, str], package: str = "sglang", version: str = "0.5.99") -> Path:
    """The tree as a wheel."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}-{version}.dist-info/METADATA", f"Name: {package}\nVersion: {version}\n")
        for name, text in tree.items():
            archive.writestr(f"{package}/{name}", text)
    return path
