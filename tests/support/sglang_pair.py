"""A real SGLang pair on one CPU: prefill and decode as processes, a two-layer model of random weights, KV over TCP.

SGLang 0.5.19 has no CPU wheel of its kernels. On a machine without a GPU a stand-in package of that name lets it
import; attention and layers then run in PyTorch. What is real: the servers, their logs, their endpoints, the transfer.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_S = 1200.0
"""65 s for both on two idle cores; 11 minutes were seen on two cores that others used as well."""
CONTEXT = 512
_KERNELS = '''"""Every name is there, and none may be called."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(*_args, **_kwargs):
        raise RuntimeError(f"sgl_kernel.{name} needs a GPU")

    return refuse
'''
_MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 256,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
_FLAGS = (
    *("--load-format", "dummy", "--skip-tokenizer-init", "--device", "cpu", "--host", "127.0.0.1", "--page-size", "1"),
    *("--context-length", str(CONTEXT), "--cuda-graph-backend-decode", "disabled"),
    *("--cuda-graph-backend-prefill", "disabled", "--skip-server-warmup", "--disable-overlap-schedule"),
    *("--disaggregation-transfer-backend", "mooncake_tcp"),
)
_DECODE_FLAGS = ("--disaggregation-decode-retraction-backup", "cpu_tensor", "--num-reserved-decode-tokens", "16")


@dataclass(frozen=True)
class Worker:
    """One role: where it answers, and what it has printed."""

    url: str
    log: Path


@dataclass(frozen=True)
class Pair:
    """Both, while they run."""

    prefill: Worker
    decode: Worker
    bootstrap_port: int

    @property
    def targets(self) -> tuple[str, ...]:
        """What an operator would name: both addresses and both logs."""
        return self.prefill.url, self.decode.url, str(self.prefill.log), str(self.decode.log)

    def ask(self, tokens: int, room: int) -> dict[str, tuple[int, int]]:
        """Send one prompt as a router does: to both at once. For each role its status and the prompt's tokens."""
        body = {
            "input_ids": [(7 * place) % 250 + 3 for place in range(tokens)],
            "sampling_params": {"max_new_tokens": 4, "temperature": 0},
            "bootstrap_host": "127.0.0.1",
            "bootstrap_port": self.bootstrap_port,
            "bootstrap_room": room,
        }
        answers: dict[str, tuple[int, int]] = {}

        def send(role: str, worker: Worker) -> None:
            answers[role] = _post(f"{worker.url}/generate", body)

        senders = [
            threading.Thread(target=send, args=pair) for pair in (("prefill", self.prefill), ("decode", self.decode))
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        return answers


@contextlib.contextmanager
def running_pair(
    python: str, folder: Path, *, prefill_pool: int, decode_pool: int, flags: tuple[str, ...] = ()
) -> Iterator[Pair]:
    """A pair with these pools in tokens, ready to serve; stopped when the block ends."""
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "config.json").write_text(json.dumps(_MODEL), "utf-8")
    (folder / "kernels" / "sgl_kernel").mkdir(parents=True)
    (folder / "kernels" / "sgl_kernel" / "__init__.py").write_text(_KERNELS, "utf-8")
    prefill_port, decode_port, bootstrap_port = (_free_port() for _ in range(3))
    shared = ("--model-path", str(folder / "model"), *_FLAGS, "--disaggregation-bootstrap-port", str(bootstrap_port))
    pools = {"prefill": (prefill_port, prefill_pool, ()), "decode": (decode_port, decode_pool, _DECODE_FLAGS)}
    workers = {role: Worker(f"http://127.0.0.1:{port}", folder / f"{role}.log") for role, (port, _, _) in pools.items()}
    with contextlib.ExitStack() as stack:
        started = []
        for role, (port, pool, own) in pools.items():
            where = ("--port", str(port), "--max-total-tokens", str(pool), "--disaggregation-mode", role)
            command = [python, "-m", "sglang.launch_server", *shared, *where, *own, *flags]
            started.append(stack.enter_context(_process(command, folder, workers[role].log)))
        _wait_ready(started, list(workers.values()))
        yield Pair(workers["prefill"], workers["decode"], bootstrap_port)


@contextlib.contextmanager
def _process(command: list[str], folder: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "SGLANG_USE_CPU_ENGINE": "1",
        "MC_FORCE_TCP": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(folder / "kernels"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each role imports some ten thousand modules, in three processes
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
        try:
            yield process
        finally:
            # Its scheduler and detokenizer are processes of their own, in this session's group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=60)


def _wait_ready(processes: list[subprocess.Popen[bytes]], workers: list[Worker]) -> None:
    until = time.monotonic() + START_S
    for process, worker in zip(processes, workers, strict=True):
        while b"fired up and ready" not in worker.log.read_bytes():
            tail = worker.log.read_bytes()[-2000:].decode("utf-8", "replace")
            assert process.poll() is None, f"it ended before it was ready:\n{tail}"
            assert time.monotonic() < until, f"not ready within {START_S:.0f} s:\n{tail}"
            time.sleep(1)


def _post(url: str, body: dict[str, Any]) -> tuple[int, int]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.load(answer)["meta_info"]["prompt_tokens"]
    except urllib.error.HTTPError as error:
        return error.code, 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])
