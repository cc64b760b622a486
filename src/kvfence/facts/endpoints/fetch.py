"""The door to a server: GET, within bounds of time and size, and never on to another host. No page is understood here.

Whatever is on the other side, asking ends: the whole exchange of a page has a time, headers and name look-up included;
an answer has a size, before and after unpacking; a redirect is followed on the same server only.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from kvfence.errors import UsageError, why_unreached
from kvfence.facts.endpoints.base import Base, parse_base

if TYPE_CHECKING:
    import httpx

PAGE_S = 4.0
"""SGLang asks its scheduler before it answers `/server_info`; 0.1 to 1 s was seen on a busy machine."""
TARGET_S = 10.0
PAGE_BYTES_MAX = 8 << 20
"""The largest known, the metrics of an engine with many labels, are a few MB."""
_REDIRECTS_MAX = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_WANTS_KEY = (401, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How servers are asked."""

    api_key: str | None = field(default=None, repr=False)
    """Sent to the servers that the user named, never to those that a router names."""
    page_s: float = PAGE_S
    target_s: float = TARGET_S


USUAL = Access()
"""No key, and the usual times."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answered to one request."""

    url: str
    """As it may be printed."""
    status: int
    body: bytes

    @property
    def wants_key(self) -> bool:
        """Whether it was refused for want of a key."""
        return self.status in _WANTS_KEY


@dataclass(frozen=True, slots=True)
class NoPage:
    """Why there is no answer to one request."""

    url: str
    why: str


Answers = Mapping[str, Page | NoPage]


async def ask(client: httpx.AsyncClient, base: Base, paths: Iterable[str], access: Access) -> dict[str, Page | NoPage]:
    """All these pages of one server, asked at once, each with its answer or with why there is none."""
    paths = list(paths)
    answers = await asyncio.gather(*(_ask_one(client, base, path, access) for path in paths))
    return dict(zip(paths, answers, strict=True))


async def _ask_one(client: httpx.AsyncClient, base: Base, path: str, access: Access) -> Page | NoPage:
    import httpx  # noqa: PLC0415 — audits of logs do not pay for loading it

    shown = base.url(path.split("?", maxsplit=1)[0])
    try:
        async with asyncio.timeout(access.page_s):
            return await _follow(client, base, path, access)
    except TimeoutError:
        return NoPage(shown, f"it did not come within {access.page_s:g} s")
    except httpx.TransportError as error:
        return NoPage(shown, _why(error))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, zlib.error, ValueError):
        return NoPage(shown, "its answer is not what HTTP allows")


async def _follow(client: httpx.AsyncClient, base: Base, path: str, access: Access) -> Page | NoPage:
    url = base.url(path)
    for _turn in range(_REDIRECTS_MAX):
        headers = {"accept-encoding": "identity"}
        if access.api_key and base.user is None:
            headers["authorization"] = f"Bearer {access.api_key}"
        request = client.build_request("GET", url, headers=headers)
        response = await client.send(request, stream=True, auth=base.user)
        try:
            if response.status_code not in _REDIRECTS:
                return await _read(response, base.url(path.split("?", maxsplit=1)[0]))
            location = urljoin(url, response.headers.get("location", ""))
        finally:
            await response.aclose()
        if not _same_server(location, base):
            return NoPage(base.url(path), "it redirects to another server; name that one as the target")
        url = location
    return NoPage(base.url(path), "it redirects in a circle")


def _same_server(location: str, base: Base) -> bool:
    try:
        there = parse_base(location.partition("?")[0].partition("#")[0])
    except UsageError:
        return False
    return (there.scheme, there.host, there.port, there.user) == (base.scheme, base.host, base.port, None)


async def _read(response: httpx.Response, shown: str) -> Page | NoPage:
    """The body, unpacked here and not by the client: a few KB can unpack to gigabytes."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        return NoPage(shown, "its answer is packed in a way that was not asked for")
    unpack = None if packing in {"", "identity"} else zlib.decompressobj(47)
    body = bytearray()
    async for piece in response.aiter_raw():
        body += unpack.decompress(piece, PAGE_BYTES_MAX + 1) if unpack else piece
        if len(body) > PAGE_BYTES_MAX or (unpack and unpack.unconsumed_tail):
            return NoPage(shown, f"its answer is over {PAGE_BYTES_MAX >> 20} MiB")
    if unpack and not unpack.eof:
        return NoPage(shown, "its answer ends in the middle")
    return Page(shown, response.status_code, bytes(body))


def _why(error: httpx.TransportError) -> str:
    import httpx  # noqa: PLC0415 — the same

    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout():
            return why_unreached(error)
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return "the connection was closed in the middle, or it speaks no HTTP"
        case _:
            return f"the request failed ({type(error).__name__})"
