import json
import socket
from contextlib import contextmanager

import httpx
import pytest

from kvfence.cell.asks import Faulted, Finished, Piece, Refused
from support.face import NaiveEngine, facing

SOON_S = 20


@contextmanager
def asked(root, *, stream):
    """A raw connection that has sent one request and read nothing."""
    address = httpx.URL(root)
    body = json.dumps({"prompt": "ab", "stream": stream}).encode()
    with socket.create_connection((address.host, address.port)) as raw:
        raw.sendall(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        yield raw


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("says", [(), (Piece(b"a"),), tuple(Piece(b"a" * 4000) for _ in range(4000))])
def test_a_client_that_hangs_up_closes_the_engines_iterator(says, stream):
    """Before the first token, while it waits for more, and while more comes than it reads: the engine is told."""
    engine = NaiveEngine(says=says, waits=True)
    with facing(engine) as root:
        with asked(root, stream=stream):
            assert engine.began.acquire(timeout=SOON_S)
        assert engine.closed.acquire(timeout=SOON_S)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "says",
    [
        (Piece(b"a"), Finished(reason="stop", prompt_tokens=2, completion_tokens=1, cached_tokens=0)),
        (Refused(asked_tokens=9, prompt_tokens=9, usable_tokens=5, gate="router"),),
        (Piece(b"a"), Faulted(check="I2-count", message="one page of eight came")),
        (RuntimeError("our own fault"),),
    ],
)
def test_every_end_closes_the_engines_iterator_once(says, stream):
    """Whole, refused, faulted or failed: none is left open."""
    engine = NaiveEngine(says=says)
    with facing(engine) as root:
        httpx.post(f"{root}/v1/completions", json={"prompt": "ab", "stream": stream})
        assert engine.closed.acquire(timeout=SOON_S)
    assert not engine.closed.acquire(blocking=False)
