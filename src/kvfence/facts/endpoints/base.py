"""Where a server is: the address that was named, without the path of any one page. Nothing is asked here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from kvfence.errors import UsageError

SCHEMES = ("http", "https")
_PORTS = {"http": 80, "https": 443}
_RANK = re.compile(r"@\d+$")
"""SGLang's router writes one worker of a DP group as `http://host:30000@0`."""
_PAGES = re.compile(
    r"/(?:v1|v1/models|server_info|get_server_info|model_info|get_model_info|metrics|health|version|props|info|workers"
    r"|list_workers|route)$"
)


@dataclass(frozen=True, slots=True)
class Base:
    """A server's address, such as `http://10.0.0.5:30000`."""

    scheme: str
    host: str
    port: int
    prefix: str = ""
    """A path in front of every page, for a server behind a proxy; without a trailing slash."""
    user: tuple[str, str] | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """The address as it may be printed: without a user's name and password."""
        return f"{self.scheme}://{self.name}{self.prefix}"

    @property
    def name(self) -> str:
        """What a node behind it is called: `host:port`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def url(self, path: str) -> str:
        """The address of one page."""
        return self.shown + path


def is_url(target: str) -> bool:
    """Whether a target is meant as an endpoint."""
    return "://" in target


def parse_base(text: str) -> Base:
    """The server that an address names, whichever of its pages it is.

    Raises:
        UsageError: it is no HTTP address, or has a query.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{_shown(text)}: not a usable URL: {error}; write it as http://HOST:PORT") from error
    if parts.scheme not in SCHEMES:
        raise UsageError(f"{_shown(text)}: audit speaks http and https only; write it as http://HOST:PORT")
    if not parts.hostname or not parts.hostname.isprintable() or " " in parts.hostname:
        raise UsageError(f"{_shown(text)}: this URL names no host; write it as http://HOST:PORT")
    if parts.query or parts.fragment:
        raise UsageError(f"{_shown(text).split('?')[0]}: give the server's address alone, without query or fragment")
    return _base(parts, port)


def worker_base(text: str, router: Base) -> Base | str:
    """The address of a worker that a router names, or why it is not asked. Raises nothing: a peer wrote it."""
    try:
        worker = parse_base(_RANK.sub("", text.strip().rstrip("/")))
    except UsageError:
        return "is no address that audit can ask"
    if worker.scheme != router.scheme:
        return f"is asked over {worker.scheme}, the router over {router.scheme}; name it as a target of its own"
    if worker.user is not None:
        return "carries a user's name; name it as a target of its own"
    if _is_link_local(worker.host):
        return "is a link-local address, where clouds keep credentials and no engine serves"
    return worker


def _is_link_local(host: str) -> bool:
    try:
        return ip_address(host).is_link_local
    except ValueError:
        return False


def _base(parts: SplitResult, port: int | None) -> Base:
    path = parts.path.rstrip("/")
    while page := _PAGES.search(path):
        path = path[: page.start()].rstrip("/")
    user = (parts.username or "", parts.password or "") if parts.username is not None else None
    return Base(parts.scheme, parts.hostname or "", port if port is not None else _PORTS[parts.scheme], path, user)


def _shown(text: str) -> str:
    scheme, mark, rest = text.rpartition("://")
    place, slash, path = rest.partition("/")
    shown = f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}"
    return "".join(char if char.isprintable() else "?" for char in shown.encode("utf-8", "replace").decode())
