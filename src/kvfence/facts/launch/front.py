"""What stands between clients and workers: a file shows that it is there, never what it lets through."""

from __future__ import annotations

from kvfence.facts.launch.places import Places
from kvfence.facts.launch.servers import Router


def ask_of(router: Router, places: Places) -> str:
    """What cannot be seen of it, and how it is tested."""
    fields = "bootstrap_host, bootstrap_port, bootstrap_room and kv_transfer_params"
    sglang = '"bootstrap_host": "192.0.2.1", "bootstrap_room": 1'
    vllm = '"kv_transfer_params": {"do_remote_prefill": true}'
    return (
        f"{places.told(router.start.line)}: whether {router.program} removes {fields} that a client sets, no file "
        f"shows; to test it, send one short prompt with {sglang} (vLLM: {vllm}) on a test system: the answer must be a "
        "refusal, or the one that comes without them"
    )
