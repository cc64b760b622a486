"""The tenants of one endpoint as a file has them, and their keys from variables. Values only; nothing is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kvfence.probe.dialects.dialect import Dialect
from kvfence.probe.options import salt_of
from kvfence.probe.providers.keys_in_clear import is_secret_name, looks_like_a_key
from kvfence.probe.providers.table import Table, leaves
from kvfence.probe.target import Tenant

TENANTS_MIN, TENANTS_MAX = 2, 64
OWN_FIELDS = frozenset(
    {
        "model",
        "messages",
        "prompt",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "n",
        "best_of",
        "provider",
        "plugins",
        "transforms",
    }
)
"""What the probe itself decides: what is asked, what it can cost, and whom a router asks."""
OWN_HEADERS = frozenset(
    {"content-length", "content-type", "transfer-encoding", "host", "connection", "anthropic-version"}
)
_HEADER_NAME = re.compile(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
"""RFC 9110, 5.1."""
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")

Variables = Mapping[str, str]
"""The environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """What one party's requests have beside the prompt; what tells a campaign's parties apart is added to it."""

    name: str = ""
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, object] = field(default_factory=dict)
    hidden: tuple[str, ...] = field(default=(), repr=False)

    def tenant(self, seed: int) -> Tenant:
        """As a tenant of the campaign with this seed."""
        return Tenant(
            name=self.name,
            api_key=self.api_key,
            salt=salt_of(self.name, seed),
            headers=self.headers,
            body=self.body,
            hidden=self.hidden,
        )


def tenants_in(table: Table, dialect: Dialect, variables: Variables, base: Party) -> tuple[Party, ...]:
    """The parties of a table's `tenants`, each with what `base` has; two that are alike where it has none.

    Raises:
        UsageError: something is wrong in the file, or a variable is not set.
    """
    tables = table.tables("tenants")
    if not tables:
        return tuple(replace(base, name=f"tenant-{letter}") for letter in "ab")
    if not TENANTS_MIN <= len(tables) <= TENANTS_MAX:
        raise table.wrong("tenants", f"must be {TENANTS_MIN} to {TENANTS_MAX}: one harvests what the others planted")
    parties = tuple(_tenant(one, dialect, variables, base) for one in tables)
    names = [party.name for party in parties]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise tables[number].wrong("name", f"'{name}' is another tenant's already")
    return parties


def party_in(table: Table, variables: Variables, base: Party) -> Party:
    """Key, headers and fields of a table, over those of `base`. Raises `UsageError`."""
    key = _secret(table, "api_key_env", table.text("api_key_env"), variables)
    headers, hidden = _headers(table, variables)
    body = table.by_name("body")
    for name in body:
        if name in OWN_FIELDS:
            raise table.wrong(f"body.{name}", "is set by the probe itself")
    for path, value in leaves(body, "body"):
        if isinstance(value, str) and (is_secret_name(path.rpartition(".")[2]) or looks_like_a_key(value)):
            raise table.wrong(path, "looks like a key; keys come from variables, with api_key_env or headers_env")
    return replace(
        base,
        api_key=key or base.api_key,
        headers={**base.headers, **headers},
        body={**base.body, **body},
        hidden=(*base.hidden, *hidden),
    )


def checked_name(table: Table, what: str) -> str:
    """A name that can be a file's and stands in reports. Raises `UsageError`."""
    name = table.needed("name")
    if not _NAME.match(name):
        raise table.wrong("name", f"a {what}'s name has letters, digits, '.', '_' and '-' only, and 64 at most")
    return name


def _tenant(table: Table, dialect: Dialect, variables: Variables, base: Party) -> Party:
    name = checked_name(table, "tenant")
    user, salt = table.text("user"), table.text("cache_salt")
    party = party_in(table, variables, base)
    table.end()
    known = dialect.tenant_fields[0]
    fields: dict[str, object] = {}
    if user is not None:
        fields |= dialect.telling_apart(known[:1], user)
    if salt is not None:
        if "cache_salt" not in known:
            raise table.wrong("cache_salt", f"{dialect.described} has no such field; leave it out")
        fields |= dialect.telling_apart(("cache_salt",), salt)
    return replace(party, name=name, body={**party.body, **fields})


def _headers(table: Table, variables: Variables) -> tuple[dict[str, str], tuple[str, ...]]:
    """All of them by lower-case name, and the values that are secrets."""
    clear, named = table.text_by_name("headers"), table.text_by_name("headers_env")
    for field_name, headers in (("headers", clear), ("headers_env", named)):
        for name in headers:
            if not _HEADER_NAME.match(name) or name.lower() in OWN_HEADERS:
                raise table.wrong(f"{field_name}.{name}", "is no header that can be set here")
    for name, value in clear.items():
        if is_secret_name(name) or looks_like_a_key(value):
            raise table.wrong(f"headers.{name}", "looks like a key; name the variable that has it in headers_env")
        if not _is_header_value(value):
            raise table.wrong(f"headers.{name}", "has characters that no header can have")
    secrets = {name: _secret(table, f"headers_env.{name}", variable, variables) for name, variable in named.items()}
    found = {name: value for name, value in secrets.items() if value is not None}
    both = {**{name.lower(): value for name, value in clear.items()}, **{name.lower(): found[name] for name in found}}
    return both, tuple(found.values())


def _secret(table: Table, name: str, variable: str | None, variables: Variables) -> str | None:
    """What a variable has; None where none is named."""
    if variable is None:
        return None
    value = variables.get(variable)
    if not value:
        shown = "a variable" if looks_like_a_key(variable) else f"the variable {variable}"
        raise table.wrong(name, f"{shown} is not set or empty")
    if not _is_header_value(value):
        raise table.wrong(name, f"the variable {variable} has characters that no key can have")
    return value


def _is_header_value(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()
