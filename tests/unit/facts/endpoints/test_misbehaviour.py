"""Whatever is on the other side: asking ends, within its time and size, in facts, a gap or one clear line."""

from __future__ import annotations

import gzip
import socket
import time
import zlib

import pytest

from kvfence.errors import TargetError, UsageError
from kvfence.facts.endpoints.fetch import PAGE_BYTES_MAX, Access
from kvfence.facts.endpoints.read_endpoint import read_endpoint
from support.endpoint_servers import Reply, engine, sglang
from support.programs import Misbehaviour, answering, silent, tcp_server

HASTY = Access(page_s=1.0, target_s=3.0)
PATIENT = Access(page_s=30.0, target_s=60.0)


def _dripping(connection: socket.socket) -> None:
    """Headers that never end, a byte at a time: each byte is in time, and the whole never is."""
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def _endless(connection: socket.socket) -> None:
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65_536)


def _bomb(connection: socket.socket) -> None:
    """64 MiB of zeros in 64 KiB, then more of them."""
    connection.recv(65_536)
    packed = gzip.compress(bytes(64 << 20), 9)
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {len(packed)}\r\n\r\n"
    connection.sendall(head.encode() + packed)


SILENT: dict[str, tuple[Misbehaviour, str]] = {
    "hang": (silent, "did not come within 1 s"),
    "dripping headers": (_dripping, "did not come within 1 s"),
    "endless body": (_endless, r"over 8 MiB|within 1 s"),
    "gzip bomb": (_bomb, r"over 8 MiB|within 1 s"),
    "cut short": (answering("200 OK", b'{"max_total_num_tokens": 681', cut=100), "closed in the middle"),
    "no HTTP": (lambda connection: connection.sendall(b"220 mail ready\r\n"), "speaks no HTTP"),
    "hang-up": (lambda _connection: None, "closed in the middle"),
}


@pytest.mark.parametrize("how", SILENT)
def test_a_server_that_gives_no_answer_is_one_clear_line_in_time(how: str):
    """No answer at all is an error that names the server and why, within the time that is allowed."""
    misbehave, why = SILENT[how]
    began = time.monotonic()
    with tcp_server(misbehave) as url, pytest.raises(TargetError, match=why) as refusal:
        read_endpoint(url, HASTY if "within" in why else PATIENT)
    assert time.monotonic() - began < 20
    assert "\n" not in str(refusal.value)


def test_nobody_there_is_one_clear_line():
    """A port at which nobody listens is told as that."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(TargetError, match=f"127.0.0.1:{port}: no connection, since nothing listens there"):
        read_endpoint(f"http://127.0.0.1:{port}", PATIENT)


def test_a_name_that_nobody_knows_is_told_as_that():
    """It is the name that is wrong, not the server that is down. `.invalid` never is a name (RFC 6761)."""
    with pytest.raises(TargetError, match="no connection, since the name is not known here"):
        read_endpoint("http://engine.invalid:30000", PATIENT)


def test_tls_to_a_server_that_has_none_is_told_as_that():
    """`https` where `http` is served: the server is up, and asking whether it is leads astray."""
    with engine({}) as server, pytest.raises(TargetError, match=r"no connection over TLS; is it http:// there\?"):
        read_endpoint(server.url.replace("http:", "https:"), PATIENT)


@pytest.mark.parametrize(
    "page",
    [
        Reply(status=500, body=b'{"max_total_num_tokens": 128, "disaggregation_mode": "prefill"}'),
        Reply(body=gzip.compress(b"{}")[:-6], headers={"content-encoding": "gzip"}),
        Reply(body=b"\0\1", headers={"content-encoding": "gzip"}),
        Reply(body=b"{}", headers={"content-encoding": "br"}),
        Reply(status=302, headers={"location": "/server_info"}),
        Reply(status=302, headers={"location": "http://127.0.0.2:1/server_info"}),
        Reply(status=302, headers={"location": "file:///etc/passwd"}),
        Reply(status=302, headers={"location": "http://[::1/"}),
        Reply(status=302),
        Reply(body=b'{"max_total_num_tokens": 128, "disaggregation_mode": "pre\xff\xfe"}'),
    ],
    ids=["500", "cut gzip", "no gzip", "br", "circle", "elsewhere", "file", "no URL", "nowhere", "not UTF-8"],
)
def test_a_broken_page_says_nothing(page: Reply):
    """An error, a packing that does not open, a redirect to another place: no fact comes of it, and nothing breaks."""
    with engine({"/server_info": page, "/health": b""}) as server:
        reading = read_endpoint(server.url, PATIENT)
    assert reading.nodes == ()
    assert "no inference engine's endpoint" in reading.gaps[0]


def test_a_redirect_on_the_same_server_is_followed():
    """A page that moved on its own server is read."""
    pages = {"/server_info": Reply(status=307, headers={"location": "/new/info"})}
    with engine({**pages, "/new/info": sglang("0.5.19-prefill")["/server_info"]}) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    assert node.number("pool_tokens") == 128


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_packed_page_is_unpacked(packing: str):
    """A proxy may pack an answer although it was not asked to."""
    body = sglang("0.5.19-prefill")["/server_info"]
    assert isinstance(body, bytes)
    packed = gzip.compress(body) if packing == "gzip" else zlib.compress(body)
    with engine({"/server_info": Reply(body=packed, headers={"content-encoding": packing})}) as server:
        (node,) = read_endpoint(server.url, PATIENT).nodes
    assert node.number("pool_tokens") == 128


def test_a_page_that_is_too_large_is_told():
    """One page over the size is left out and said so; the others are read."""
    pages = {**sglang("0.5.19-prefill"), "/metrics": b"#" * (PAGE_BYTES_MAX + 1)}
    with engine(pages) as server:
        reading = read_endpoint(server.url, PATIENT)
    assert reading.nodes[0].number("pool_tokens") == 128
    assert reading.notes == ("no answer from /metrics: its answer is over 8 MiB",)


def test_a_key_is_asked_for_and_given():
    """Without the key it is one clear line; with it the server is read, and the key is in no message."""
    page = Reply(body=bytes(sglang("0.5.19-prefill")["/server_info"]), key="sk-hunter2hunter2")  # type: ignore[arg-type]  # it is bytes
    with engine({"/server_info": page, "*": Reply(status=401)}) as server:
        with pytest.raises(TargetError, match="wants a key"):
            read_endpoint(server.url, PATIENT)
        reading = read_endpoint(server.url, Access(api_key="sk-hunter2hunter2", page_s=30, target_s=60))
    assert reading.nodes[0].number("pool_tokens") == 128
    assert "hunter2" not in repr((reading, Access(api_key="sk-hunter2hunter2")))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h/",
        "http://",
        "http://h:99999",
        "http://h:x",
        "http://[::1",
        "http://h/metrics?token=secret",
        "http://a b/",
        "://",
    ],
)
def test_an_address_that_cannot_be_asked_is_wrong_use(url: str):
    """What is no address is refused before anything is asked, in one line that shows no query."""
    with pytest.raises(UsageError) as refusal:
        read_endpoint(url, HASTY)
    assert "\n" not in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_a_password_in_an_address_is_used_and_not_shown():
    """A user's name and password are sent, and no evidence and no message has them."""
    with engine(sglang("0.5.19-prefill")) as server:
        reading = read_endpoint(server.url.replace("http://", "http://me:hunter2@"), PATIENT)
        assert set(server.keys) == {"Basic bWU6aHVudGVyMg=="}
    assert "hunter2" not in repr(reading)
