"""A small tree of the same shape as vLLM's NIXL connector, in our own words, with every fix in."""

from __future__ import annotations

from support.engine_trees import Tree

FOLDER = "distributed/kv_transfer/kv_connector/v1/nixl"
READER, SENDER, ASKED = f"{FOLDER}/reader.py", f"{FOLDER}/sender.py", f"{FOLDER}/asked.py"

IDS = """        if any(block >= self.remote_blocks for block in remote_block_ids):
            self._handle_failed_transfer(req_id)
            return
"""
EXPIRY = """        if self.is_expired(meta):
            self._handle_failed_transfer(req_id)
            return
"""
LATE = """                    self.fail_reader(req_id)
"""
RENEWAL = """    def beat(self, req_ids):
        for req_id in req_ids:
            old = self._reqs_to_send.get(req_id)
            if old is not None:
                self._reqs_to_send[req_id] = max(old, time.perf_counter() + self.extension)

"""

VLLM: Tree = {
    "version.py": '__version__ = "0.99.0"\n',
    ASKED: """
class Asked:
    def add(self, req_id, params):
        self.reads[req_id] = params["remote_block_ids"], params["remote_expiry"]
""",
    READER: f"""
class Reader:
    def __init__(self, config):
        self._both_ways = config.get_extra("both_ways", False)

    def is_expired(self, meta):
        return time.perf_counter() >= meta.blocks_expiry

    def read_for(self, req_id, meta):
{EXPIRY}        self._read_blocks(req_id, meta.local_block_ids, meta.remote.block_ids)

    def _read_blocks(self, req_id, local_block_ids, remote_block_ids):
{IDS}        num_local_blocks = len(local_block_ids)
        num_remote_blocks = len(remote_block_ids)
        assert num_local_blocks <= num_remote_blocks
        self.wrapper.read(local_block_ids, remote_block_ids)
""",
    SENDER: f"""
class Sender:
    def start(self, metadata):
        for req_id, date in metadata.dates.items():
            self._reqs_to_send[req_id] = date

{RENEWAL}    def new_notes(self):
        for notes in self.wrapper.get_new_notifs().values():
            for req_id in notes:
                if req_id not in self._reqs_to_send:
                    logger.error("%s was read too late", req_id)
{LATE}                    continue
                self.done.add(req_id)
""",
}
