"""A file of providers is values, or one clear line about the first thing that is wrong; a key is never in that line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.errors import UsageError
from kvfence.probe.dialects.anthropic import MESSAGES
from kvfence.probe.dialects.openai import CHAT, COMPLETIONS, OpenAI
from kvfence.probe.dialects.openrouter import OpenRouter
from kvfence.probe.limits import Prices
from kvfence.probe.providers.provider import providers_in
from kvfence.probe.providers.table import Table

KEY = "sk-live-4Jq0vX8mB2nL7cR5tY1w"
VARIABLES = {"VENDOR_KEY": KEY, "OTHER_KEY": "other-3fK9sW2xQ8", "EMPTY": "", "BROKEN": "key\nwith a line"}
MINIMAL = '[[providers]]\nname = "one"\nkind = "openai"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'


def read(text: str):
    return providers_in(Table("vendors.toml", tomllib.loads(text)), VARIABLES)


def test_what_is_not_said_is_as_for_one_endpoint():
    """Two tenants with one key or none, no budget of its own, the context as the endpoint says."""
    (one,) = read(MINIMAL)
    assert (one.name, one.target.dialect, one.timeout_s) == ("one", CHAT, None)
    assert one.target.declared_context is None
    assert [party.name for party in one.parties] == ["tenant-a", "tenant-b"]
    assert one.limits.tokens is one.limits.usd is one.limits.prices is one.requests_max is None


def test_each_kind_has_its_dialect_and_place():
    """Vendors that are always in one place need no URL."""
    text = """
    [[providers]]
    name = "a"
    kind = "anthropic"
    model = "m"
    [[providers]]
    name = "b"
    kind = "openrouter"
    model = "v/m"
    pinned = "deepinfra/fp8"
    [[providers]]
    name = "c"
    kind = "openai"
    url = "https://vendor.example/v1/"
    model = "m"
    completions = true
    [[providers]]
    name = "d"
    kind = "openai"
    url = "https://vendor.example/v1"
    model = "m"
    limit_field = "max_completion_tokens"
    """
    dialects = [one.target.dialect for one in read(text)]
    assert dialects == [
        MESSAGES,
        OpenRouter(pinned="deepinfra/fp8"),
        COMPLETIONS,
        OpenAI(limit_field="max_completion_tokens"),
    ]
    urls = [one.target.base_url for one in read(text)]
    places = ["https://api.anthropic.com/v1", "https://openrouter.ai/api/v1"]
    assert urls == [*places, *["https://vendor.example/v1"] * 2]


def test_tenants_have_what_their_provider_has_and_their_own_over_it():
    """Keys come from variables, and whatever came from one is hidden."""
    text = f"""{MINIMAL}
    api_key_env = "VENDOR_KEY"
    price_in = 0.5
    price_out = 2
    budget_usd = 3.5
    headers = {{ X-Team = "red" }}
    body = {{ reasoning = {{ enabled = false }} }}
    without = ["temperature"]
    [[providers.tenants]]
    name = "first"
    user = "u-1"
    cache_salt = "s-1"
    [[providers.tenants]]
    name = "second"
    api_key_env = "OTHER_KEY"
    headers = {{ x-team = "blue" }}
    headers_env = {{ X-Org = "VENDOR_KEY" }}
    """
    (one,) = read(text)
    first, second = (party.tenant(7) for party in one.parties)
    assert first.api_key == KEY
    assert first.body == {"reasoning": {"enabled": False}, "user": "u-1", "cache_salt": "s-1"}
    assert second.headers == {"x-team": "blue", "x-org": KEY}
    assert second.secrets == ("other-3fK9sW2xQ8", KEY)
    assert first.salt != second.salt
    assert one.limits.prices == Prices(per_million_in=0.5, per_million_out=2.0)
    assert one.target.without == ("temperature",)
    assert KEY not in repr(one)


def test_a_user_is_said_as_the_vendor_has_it():
    """Anthropic has one field for it, elsewhere."""
    tenants = '[[providers.tenants]]\nname = "a"\nuser = "u-1"\n[[providers.tenants]]\nname = "b"\n'
    (one,) = read(MINIMAL.replace('"openai"', '"anthropic"') + tenants)
    assert one.parties[0].body == {"metadata": {"user_id": "u-1"}}


TENANT_B = '[[providers.tenants]]\nname = "b"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "vendors.toml: providers: there is none; begin each with [[providers]]"),
        ("[other]\n", "vendors.toml: other: there is no such field here; there are providers"),
        ("providers = 1\n", "vendors.toml: providers: must be tables"),
        (MINIMAL + "modle = 1\n", "vendors.toml: [[providers]] 1: modle: there is no such field here"),
        (MINIMAL.replace('name = "one"\n', ""), "[[providers]] 1: name: is missing"),
        (MINIMAL.replace('"one"', '"../one"'), "[[providers]] 1: name: a provider's name has letters"),
        (MINIMAL + MINIMAL.replace("one", "ONE"), "[[providers]] 2: name: 'ONE' is another provider's already"),
        (MINIMAL.replace("openai", "azure"), "kind: 'azure' is none; there are openai, anthropic, openrouter"),
        (MINIMAL.replace("http://127.0.0.1:9/v1", "127.0.0.1"), "url: '127.0.0.1' is not a URL"),
        (MINIMAL.replace("//127", "//me:pass@127"), "url: has a user's name or password"),
        (MINIMAL.replace('url = "http://127.0.0.1:9/v1"\n', ""), "url: is missing"),
        (MINIMAL.replace('model = "m"', 'model = ""'), "model: must be a text"),
        (MINIMAL + "context = true\n", "context: must be a whole number"),
        (MINIMAL + "context = 0\n", "context: must be a whole number from 1"),
        (MINIMAL + 'api_key_env = "NOT_SET"\n', "api_key_env: the variable NOT_SET is not set or empty"),
        (MINIMAL + 'api_key_env = "EMPTY"\n', "api_key_env: the variable EMPTY is not set or empty"),
        (MINIMAL + 'api_key_env = "BROKEN"\n', "api_key_env: the variable BROKEN has characters"),
        (MINIMAL + f'api_key_env = "{KEY}"\n', "api_key_env: a variable is not set or empty"),
        (MINIMAL + f'api_key = "{KEY}"\n', "api_key: there is no such field here"),
        (MINIMAL + f'headers = {{ Authorization = "Bearer {KEY}" }}\n', "headers.Authorization: looks like a key"),
        (MINIMAL + f'headers = {{ X-Team = "{KEY}" }}\n', "headers.X-Team: looks like a key"),
        (MINIMAL + 'headers = { X-Api-Key = "short" }\n', "headers.X-Api-Key: looks like a key"),
        (MINIMAL + 'headers = { "X Team" = "red" }\n', "headers.X Team: is no header that can be set here"),
        (MINIMAL + 'headers = { Host = "red" }\n', "headers.Host: is no header that can be set here"),
        (MINIMAL + 'headers = { X-Team = "a\\nb" }\n', "headers.X-Team: has characters that no header can have"),
        (MINIMAL + 'headers_env = { X-Org = "NOT_SET" }\n', "headers_env.X-Org: the variable NOT_SET is not set"),
        (MINIMAL + f'body = {{ auth = {{ token = ["{KEY}"] }} }}\n', "body.auth.token[1]: looks like a key"),
        (MINIMAL + "body = { max_tokens = 1 }\n", "body.max_tokens: is set by the probe itself"),
        (MINIMAL + "body = { n = 4 }\n", "body.n: is set by the probe itself"),
        (MINIMAL + "body = { since = 2026-01-01 }\n", "body.since: must be a text, a finite number"),
        (MINIMAL + "body = { top_p = nan }\n", "body.top_p: must be a text, a finite number"),
        (MINIMAL + 'without = ["max_tokens"]\n', "without: 'max_tokens' cannot be left out"),
        (MINIMAL + "budget_usd = 1\n", "budget_usd: needs price_in and price_out"),
        (MINIMAL + "price_in = 1\n", "price_out: is missing"),
        (MINIMAL + "price_in = -1\nprice_out = 1\n", "price_in: must be a number from 0"),
        (MINIMAL + 'pinned = "azure"\n', "pinned: only openrouter hands a request on"),
        (MINIMAL + 'limit_field = "tokens"\n', "limit_field: is max_tokens or max_completion_tokens"),
        (MINIMAL.replace("openai", "anthropic") + "completions = true\n", "completions: is for openai only"),
        (MINIMAL + TENANT_B, "[[providers]] 1: tenants: must be 2 to 64"),
        (MINIMAL + TENANT_B + TENANT_B, "[[providers]] 1: [[tenants]] 2: name: 'b' is another tenant's already"),
        (MINIMAL + TENANT_B + "salt = 1\n" + TENANT_B, "[[providers]] 1: [[tenants]] 1: salt: there is no such field"),
        (
            MINIMAL.replace("openai", "anthropic") + TENANT_B + 'cache_salt = "s"\n' + TENANT_B,
            "[[tenants]] 1: cache_salt: an Anthropic Messages endpoint has no such field",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_file_table_and_field(text, said):
    """Whatever it is, and without the key that it is about."""
    with pytest.raises(UsageError) as error:
        read(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert KEY not in str(error.value)


def test_what_only_looks_long_is_no_key():
    """Names of betas, teams and models are words, however many."""
    betas = "context-1m-2025-08-07,interleaved-thinking-2025-05-14"
    text = f'{MINIMAL}headers = {{ anthropic-beta = "{betas}", X-Team = "quality assurance, floor 3" }}\n'
    (one,) = read(text + 'body = { fallback = "the-author/the-model-480b-a35b-instruct" }\n')
    assert one.parties[0].headers["anthropic-beta"] == betas


def test_the_file_in_the_documents_is_one_that_is_read():
    """Each field of it, whatever it is."""
    page = (Path(__file__).parents[4] / "docs" / "providers.md").read_text("utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    names = re.findall(r'(?:_env = |= )"([A-Z][A-Z_]+)"', example)
    tables = Table("providers.toml", tomllib.loads(example))
    first, second, third = providers_in(tables, dict.fromkeys(names, "a-value"))
    assert (first.kind, second.kind, third.kind) == ("openai", "anthropic", "openrouter")
    assert first.target.without == ("cache_salt",)
    assert [party.name for party in third.parties] == ["red", "blue"]
    assert third.limits.usd == 2.0


_SCALARS = st.one_of(st.text(max_size=8), st.integers(), st.floats(), st.booleans(), st.dates(), st.none())
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)
_FIELDS = st.sampled_from(
    [
        *("name", "kind", "url", "model", "context", "api_key_env", "price_in", "price_out", "budget_usd", "max_rps"),
        *("headers", "headers_env", "body", "without", "pinned", "tenants", "timeout", "completions", "limit_field"),
    ]
)


@given(changed=st.dictionaries(_FIELDS, _VALUES, max_size=4))
@settings(max_examples=300)
def test_whatever_a_table_has_it_is_values_or_one_line(changed):
    """No other error, no traceback; what was read can be sent as JSON."""
    rows = {"name": "one", "kind": "openai", "url": "http://127.0.0.1:9/v1", "model": "m", **changed}
    try:
        (one,) = providers_in(Table("vendors.toml", {"providers": [rows]}), VARIABLES)
    except UsageError as error:
        assert str(error).startswith("vendors.toml: [[providers]] 1: ")  # noqa: PT017 — most tables are wrong, some right
    else:
        assert len(one.parties) >= 2
