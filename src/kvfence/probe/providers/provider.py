"""One vendor of a model, parsed from its table: where it is, how it is spoken to, what may be spent. Values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kvfence.errors import UsageError
from kvfence.probe.dialects.anthropic import MESSAGES
from kvfence.probe.dialects.dialect import Dialect
from kvfence.probe.dialects.openai import OpenAI
from kvfence.probe.dialects.openrouter import OpenRouter
from kvfence.probe.limits import Limits, Prices
from kvfence.probe.providers.table import Table
from kvfence.probe.providers.tenants import OWN_FIELDS, Party, Variables, checked_name, party_in, tenants_in
from kvfence.probe.target import LONGEST, Target, parse_url

MANY = 2**53
RPS_MIN, RPS_MAX = 0.001, 10_000
TIMEOUT_S_MIN, TIMEOUT_S_MAX = 0.1, 86_400
PRICE_MAX = 1_000_000


class Kind(StrEnum):
    """How a vendor is spoken to, as a file has it."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OPENROUTER = "openrouter"


PLACES = {Kind.ANTHROPIC: "https://api.anthropic.com/v1", Kind.OPENROUTER: "https://openrouter.ai/api/v1"}
"""Where a vendor is found unless its table says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A vendor of the model that is compared."""

    name: str
    kind: Kind
    target: Target
    parties: tuple[Party, ...]
    """The last one harvests; the others plant, in turn."""
    limits: Limits
    requests_max: int | None = None
    timeout_s: float | None = None

    @property
    def pinned(self) -> str | None:
        """To whom a router hands a request on."""
        return self.target.dialect.pinned if isinstance(self.target.dialect, OpenRouter) else None


def providers_in(table: Table, variables: Variables) -> tuple[Provider, ...]:
    """All that a file has. Raises `UsageError` for the first thing that is wrong, before anything is sent."""
    tables = table.tables("providers")
    table.end()
    if not tables:
        raise table.wrong("providers", "there is none; begin each with [[providers]]")
    providers = [_provider(one, variables) for one in tables]
    _check_names(tables, [provider.name for provider in providers])
    return tuple(providers)


def _check_names(tables: Sequence[Table], names: Sequence[str]) -> None:
    """Each has a journal of its own, also where file names have no case."""
    folded = [name.casefold() for name in names]
    for number, name in enumerate(folded):
        if name in folded[:number]:
            raise tables[number].wrong("name", f"'{names[number]}' is another provider's already")


def _provider(table: Table, variables: Variables) -> Provider:
    name = checked_name(table, "provider")
    kind = _kind(table)
    dialect = _dialect(table, kind)
    url = _url(table, kind)
    prices = _prices(table)
    without = table.texts("without")
    for field in without:
        if field in OWN_FIELDS:
            raise table.wrong("without", f"'{field}' cannot be left out")
    budget_usd = table.number("budget_usd", 0, MANY)
    if budget_usd is not None and prices is None:
        raise table.wrong("budget_usd", "needs price_in and price_out")
    provider = Provider(
        name=name,
        kind=kind,
        target=Target(
            base_url=url,
            model=table.needed("model"),
            declared_context=table.whole("context", 1, LONGEST),
            dialect=dialect,
            without=without,
            thinking_tokens=table.whole("thinking_tokens", 0, LONGEST) or 0,
        ),
        parties=tenants_in(table, dialect, variables, party_in(table, variables, Party())),
        limits=Limits(
            tokens=table.whole("budget_tokens", 1, MANY),
            usd=budget_usd,
            prices=prices,
            requests_per_s=table.number("max_rps", RPS_MIN, RPS_MAX),
        ),
        requests_max=table.whole("max_requests", 2, MANY),
        timeout_s=table.number("timeout", TIMEOUT_S_MIN, TIMEOUT_S_MAX),
    )
    table.end()
    return provider


def _kind(table: Table) -> Kind:
    said = table.needed("kind")
    if said not in set(Kind):
        raise table.wrong("kind", f"'{said}' is none; there are {', '.join(Kind)}")
    return Kind(said)


def _dialect(table: Table, kind: Kind) -> Dialect:
    pinned, limit_field, completions = table.text("pinned"), table.text("limit_field"), table.truth("completions")
    if pinned is not None and kind is not Kind.OPENROUTER:
        raise table.wrong("pinned", f"only {Kind.OPENROUTER} hands a request on")
    if (limit_field is not None or completions) and kind is not Kind.OPENAI:
        raise table.wrong("limit_field" if limit_field else "completions", f"is for {Kind.OPENAI} only")
    if limit_field not in {None, "max_tokens", "max_completion_tokens"}:
        raise table.wrong("limit_field", "is max_tokens or max_completion_tokens")
    match kind:
        case Kind.ANTHROPIC:
            return MESSAGES
        case Kind.OPENROUTER:
            return OpenRouter(pinned=pinned)
        case Kind.OPENAI:
            path = "completions" if completions else "chat/completions"
            return OpenAI(path, limit_field or "max_tokens")


def _url(table: Table, kind: Kind) -> str:
    said = table.text("url") or PLACES.get(kind)
    if said is None:
        raise table.wrong("url", "is missing")
    if "@" in said.partition("://")[2].partition("/")[0]:
        raise table.wrong("url", "has a user's name or password; keys come from variables, with api_key_env")
    try:
        return parse_url(said)
    except UsageError as error:
        raise table.wrong("url", str(error)) from error


def _prices(table: Table) -> Prices | None:
    into, out = table.number("price_in", 0, PRICE_MAX), table.number("price_out", 0, PRICE_MAX)
    if into is None and out is None:
        return None
    if into is None or out is None:
        missing = "price_in" if into is None else "price_out"
        raise table.wrong(missing, "is missing: prices are given in pairs, in US dollars for a million tokens")
    return Prices(per_million_in=into, per_million_out=out)
