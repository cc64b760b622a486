"""A server on loopback that gives files as a web server does, and as S3 and Google's storage do where they are read.

It checks no signature. What it stands in for: GET and HEAD of an object of S3, with ranges; media and metadata of an
object in the JSON API of Google Cloud Storage.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

from support.loopback import on_loopback

_GOOGLE = re.compile(r"/(?:download/)?storage/v1/b/(?P<bucket>[^/]+)/o/(?P<name>[^?]+)")


@contextlib.contextmanager
def object_store(  # noqa: C901 — one server, each manner a line
    objects: Mapping[str, bytes], *, moved: str = "", broken: str = ""
) -> Iterator[str]:
    """Objects by their paths, `bucket/name`; the path `moved` sends elsewhere, `broken` breaks off. Its host:port."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing."""

        def do_HEAD(self) -> None:
            """What there is of it."""
            self._answer(with_body=False)

        def do_GET(self) -> None:
            """All of it, or the range that was asked for."""
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            asked = urlsplit(self.path)
            google = _GOOGLE.match(asked.path)
            name = f"{google['bucket']}/{google['name']}" if google else asked.path.lstrip("/")
            content = objects.get(unquote(name))
            if moved and unquote(name) == moved:
                self._say(302, b"", {"Location": f"/{next(iter(objects))}"}, with_body=with_body)
            elif content is None:
                self._say(404, b"{}", {}, with_body=with_body)
            elif google and "alt=media" not in asked.query:
                about = {"kind": "storage#object", "name": google["name"], "size": str(len(content)), "generation": "1"}
                self._say(200, json.dumps(about).encode(), {"Content-Type": "application/json"}, with_body=with_body)
            else:
                self._give(content, is_broken=unquote(name) == broken, with_body=with_body)

        def _give(self, content: bytes, *, is_broken: bool, with_body: bool) -> None:
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            start = int(wanted[1]) if wanted else 0
            piece = content[start : int(wanted[2]) + 1 if wanted and wanted[2] else None]
            about = {"ETag": '"e"', "Last-Modified": "Fri, 28 Aug 2026 10:00:00 GMT", "x-goog-generation": "1"}
            if wanted:
                about["Content-Range"] = f"bytes {start}-{start + len(piece) - 1}/{len(content)}"
            self._say(
                206 if wanted else 200, piece, about, with_body=with_body, given=len(piece) // 2 if is_broken else None
            )

        def _say(
            self, status: int, body: bytes, about: dict[str, str], *, with_body: bool, given: int | None = None
        ) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **about}.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                with contextlib.suppress(ConnectionError):  # who only looks at its beginning goes away
                    self.wfile.write(body[:given])
            self.close_connection = given is not None

    with on_loopback(Door) as url:
        yield url.removeprefix("http://")
