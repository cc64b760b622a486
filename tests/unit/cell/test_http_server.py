import asyncio
import logging
import socket
import threading

from kvfence.cell import http_server
from kvfence.cell.http_server import HttpServer
from kvfence.cell.openai_app import build_app
from support.face import NaiveEngine

UPGRADE = b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n"


class Nothing:
    """Nothing is ever open."""

    open_answers = 0

    def refuse_new(self):
        """Nobody asks."""

    def end_open(self):
        """Nothing is open."""


def exchanged(sent):
    """What comes back for these bytes, until the server hangs up."""
    bound = socket.create_server(("127.0.0.1", 0))
    address = bound.getsockname()
    server = HttpServer(build_app(NaiveEngine()), Nothing())
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
    thread.start()
    try:
        with socket.create_connection(address, timeout=20) as raw, raw.makefile("rb") as answer:
            raw.sendall(sent)
            return answer.read()
    finally:
        server.should_exit = True
        thread.join()


def test_a_connection_that_never_sends_its_head_is_closed(monkeypatch):
    """Half a head is not held for ever."""
    monkeypatch.setattr(http_server, "HEAD_S_MAX", 0.5)
    assert exchanged(b"GET /v1/models HTTP/1.1\r\nhost") == b""


def test_an_upgrade_to_websocket_is_answered_as_plain_http_and_is_one_line_of_the_log(caplog):
    """No advice to install something."""
    with caplog.at_level(logging.WARNING):
        assert exchanged(UPGRADE).startswith(b"HTTP/1.1 200")
    assert len(caplog.records) == 1
