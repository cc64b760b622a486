"""Transformers' own server (`transformers serve`) on CPU: one request after the other, or batched over paged memory."""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from support.engine_processes import Worker, engine_process, free_port, wait_ready

_SERVE = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
_PAGE, _PAGES = 32, 128
POOL = _PAGE * _PAGES
"""Tokens that the batched server's memory holds, so few that pages change hands often."""


class Manner(Enum):
    """How it computes what several clients ask at once."""

    ONE_AT_A_TIME = ()
    BATCHED = (
        *("--continuous-batching", "--attn-implementation", "sdpa"),
        *("--cb-block-size", str(_PAGE), "--cb-num-blocks", str(_PAGES), "--cb-max-batch-tokens", "512"),
    )


@contextlib.contextmanager
def running_transformers(python: str, folder: Path, model: Path, manner: Manner) -> Iterator[Worker]:
    """A server of this checkpoint, ready to serve; stopped when the block ends.

    It lists what its cache holds, and answers 500 to that where there is no cache: hence an empty one.
    """
    port = free_port()
    worker = Worker(f"http://127.0.0.1:{port}", folder / "transformers.log")
    (cache := folder / "cache").mkdir()
    environment = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(cache)}
    where = ("--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32")
    command = (python, "-c", _SERVE, "serve", str(model), *where, *manner.value)
    with engine_process(command, worker.log, environment) as process:
        wait_ready([process], [worker], _is_healthy)
        yield worker


def _is_healthy(worker: Worker) -> bool:
    try:
        with urllib.request.urlopen(f"{worker.url}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
