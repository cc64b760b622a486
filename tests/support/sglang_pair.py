"""A real SGLang pair on one CPU: prefill and decode as processes, a two-layer model of random weights, KV over TCP.

SGLang 0.5.19 has no CPU wheel of its kernels. On a machine without a GPU a stand-in package of that name lets it
import; attention and layers then run in PyTorch. What is real: the servers, their logs, their endpoints, the transfer.
"""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from support.engine_processes import Worker, engine_process, free_port, post, wait_ready

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
    *("--device", "cpu", "--host", "127.0.0.1", "--page-size", "1", "--cuda-graph-backend-decode", "disabled"),
    *("--cuda-graph-backend-prefill", "disabled", "--skip-server-warmup", "--disable-overlap-schedule"),
    *("--disaggregation-transfer-backend", "mooncake_tcp"),
)
_DECODE_FLAGS = ("--disaggregation-decode-retraction-backup", "cpu_tensor", "--num-reserved-decode-tokens", "16")


@dataclass(frozen=True)
class Model:
    """What is served: who writes it into a folder that is not there yet, and the flags that go with it."""

    write: Callable[[Path], object]
    flags: tuple[str, ...]


def _write_random(model: Path) -> None:
    model.mkdir(parents=True)
    (model / "config.json").write_text(json.dumps(_MODEL), "utf-8")


RANDOM = Model(_write_random, ("--load-format", "dummy", "--skip-tokenizer-init", "--context-length", str(CONTEXT)))
"""Random weights, which take numbers for a prompt."""


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
            answer = post(f"{worker.url}/generate", body)
            answers[role] = answer.status, answer.body.get("meta_info", {}).get("prompt_tokens", 0)

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
    python: str, folder: Path, *, prefill_pool: int, decode_pool: int, served: Model = RANDOM
) -> Iterator[Pair]:
    """A pair with these pools in tokens, ready to serve; stopped when the block ends."""
    served.write(folder / "model")
    (folder / "kernels" / "sgl_kernel").mkdir(parents=True)
    (folder / "kernels" / "sgl_kernel" / "__init__.py").write_text(_KERNELS, "utf-8")
    prefill_port, decode_port, bootstrap_port = (free_port() for _ in range(3))
    shared = (
        "--model-path",
        str(folder / "model"),
        *_FLAGS,
        *served.flags,
        "--disaggregation-bootstrap-port",
        str(bootstrap_port),
    )
    pools = {"prefill": (prefill_port, prefill_pool, ()), "decode": (decode_port, decode_pool, _DECODE_FLAGS)}
    workers = {role: Worker(f"http://127.0.0.1:{port}", folder / f"{role}.log") for role, (port, _, _) in pools.items()}
    environment = {
        "SGLANG_USE_CPU_ENGINE": "1",
        "MC_FORCE_TCP": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(folder / "kernels"),
    }
    with contextlib.ExitStack() as stack:
        started = []
        for role, (port, pool, own) in pools.items():
            where = ("--port", str(port), "--max-total-tokens", str(pool), "--disaggregation-mode", role)
            command = [python, "-m", "sglang.launch_server", *shared, *where, *own]
            started.append(stack.enter_context(engine_process(command, workers[role].log, environment)))
        wait_ready(started, list(workers.values()), lambda worker: b"fired up and ready" in worker.log.read_bytes())
        yield Pair(workers["prefill"], workers["decode"], bootstrap_port)


@contextlib.contextmanager
def running_router(python: str, folder: Path, pair: Pair) -> Iterator[str]:
    """SGLang's router in front of that pair, once it lists both; its address."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    worker = Worker(url, folder / "router.log")
    command = (
        *(python, "-m", "sglang_router.launch_router", "--pd-disaggregation", "--host", "127.0.0.1"),
        *("--prefill", pair.prefill.url, str(pair.bootstrap_port), "--decode", pair.decode.url),
        *("--port", str(port), "--prometheus-port", str(free_port())),
    )
    with engine_process(command, worker.log, {}) as process:
        wait_ready([process], [worker], _lists_both)
        yield url


def _lists_both(router: Worker) -> bool:
    try:
        with urllib.request.urlopen(f"{router.url}/workers", timeout=10) as answer:
            return len(json.load(answer)["workers"]) == 2
    except OSError:
        return False
