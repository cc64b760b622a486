"""`kvfence probe --providers`: the same campaign over several vendors of one model, in one table."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvfence.cli.probe_providers import tenants_from
from kvfence.errors import TargetError, UsageError
from kvfence.findings.comparison import Refusals
from kvfence.findings.verdict import Verdict
from kvfence.probe import Options, Target, run
from kvfence.probe.dialects.openai import CHAT
from kvfence.probe.limits import Till
from kvfence.probe.patience import Patience
from kvfence.probe.providers import comparing
from kvfence.probe.providers.comparing import ForEach
from kvfence.probe.providers.provider import providers_in
from kvfence.probe.providers.table import Table
from kvfence.probe.record import Scenario
from kvfence.probe.stop import Stop
from kvfence.probe.target import Bounds
from support.manner_servers import manner_server
from support.probe_servers import Behaviour, endpoint
from support.programs import assert_one_clear_line, run_kvfence
from support.vendor_servers import MODEL, anthropic, openrouter

KEYS = {"A_KEY": "sk-aaaa-1111-vendor", "B_KEY": "sk-bbbb-2222-vendor", "C_KEY": "sk-cccc-3333-vendor"}
SHORT = ForEach(bounds=Bounds(lengths=(3000,), seeds_each=1), patience=Patience(first_wait_s=0.001, wait_s_max=0.05))


def rows(*servers, **more: object):
    """One table for each server: kind and where it is."""
    tables = []
    for letter, (kind, server) in zip("abc", servers, strict=False):
        model = {"openai": "copier"}.get(kind, MODEL)
        tables.append({"name": letter, "kind": kind, "url": server.url, "model": model, **more})
        tables[-1] |= {"pinned": "azure"} if kind == "openrouter" else {}
        tables[-1] |= {"api_key_env": f"{letter.upper()}_KEY"}
    return {"providers": tables}


def compare(providers, each, **more: object):
    return asyncio.run(comparing.compare(providers, each, **more))


def parsed(tables):
    return providers_in(Table("vendors.toml", tables), KEYS)


def as_toml(tables):
    lines = []
    for table in tables["providers"]:
        lines += ["[[providers]]", *(f"{name} = {json.dumps(value)}" for name, value in table.items())]
    return "\n".join(lines)


@pytest.fixture
def keys(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def test_each_vendor_has_its_row_with_what_it_verified_and_how_it_refuses():
    """Honest, too early, wrong in place of a refusal: told apart, and the worst is the outcome."""
    whole = ForEach(bounds=Bounds(), patience=SHORT.patience)
    early = Behaviour(limit=5000, beyond="refuse")
    wrong = Behaviour(limit=5000, beyond="generic", chars_a_token=4.0)
    with anthropic() as one, endpoint(early) as two, openrouter(wrong) as three:
        three.provider = "Azure"
        told = compare(parsed(rows(("anthropic", one), ("openai", two), ("openrouter", three))), whole, seed=7)
    honest, refusing, silent = told.providers
    assert [row.refusals for row in told.providers] == [Refusals.HONEST, Refusals.OVERSTATED, Refusals.WRONG_ANSWERS]
    assert honest.first_failure is None
    assert honest.result.verified_tokens > 7900
    assert 5000 < refusing.first_failure.tokens <= 5064
    assert 4900 < refusing.result.verified_tokens <= 5000
    assert silent.first_failure.verdict.value == "off-topic"
    assert told.outcome is Verdict.FOUND


def test_a_vendor_that_is_not_there_does_not_end_the_others():
    """Its row says why; nothing is known of it, so the outcome is not clean."""
    with endpoint() as one, anthropic() as two:
        tables = rows(("openai", one), ("anthropic", two))
        tables["providers"][0]["url"] = "http://127.0.0.1:9/v1"
        told = compare(parsed(tables), SHORT, seed=7)
    assert told.providers[0].result is None
    assert "nothing listens there" in told.providers[0].stopped
    assert told.providers[1].outcome is Verdict.CLEAN
    assert told.outcome is Verdict.UNKNOWN


def test_vendors_never_meet_the_same_prompt():
    """They may rest on the same servers: a prompt that is known there already would prove nothing."""
    with endpoint() as one:
        compare(parsed(rows(("openai", one), ("openai", one))), SHORT, seed=7)
        prompts = [body["messages"][0]["content"] for body in one.asked]
    assert len(prompts) == 6
    assert len(set(prompts)) == len(prompts)


@given(
    budget=st.integers(1, 40_000),
    fault=st.sampled_from([None, "cut", "usage", "reset"]),
    twists=st.tuples(
        st.sampled_from(["", "overloaded", "error-event", "declined"]),
        st.sampled_from(["", "later-200", "error-200", "elsewhere", "compressed"]),
    ),
    chars_a_token=st.sampled_from([1.0, 4.0]),
)
@settings(max_examples=10, deadline=None)
def test_a_budget_of_all_is_never_exceeded(budget, fault, twists, chars_a_token):
    """By the servers' own count, whoever spends it, in whatever dialect; what broke on the way counts in full."""
    behaviour = Behaviour(limit=1000, chars_a_token=chars_a_token)
    with (
        endpoint(replace(behaviour, fault=fault)) as one,
        anthropic(behaviour, twists[0]) as two,
        openrouter(behaviour, twists[1]) as three,
    ):
        tables = rows(("openai", one), ("anthropic", two), ("openrouter", three))
        told = compare(parsed(tables), SHORT, seed=7, till=Till(tokens_max=budget))
        taken = one.taken + two.taken + three.taken
    assert taken <= told.tokens <= budget


def test_what_a_budget_of_all_left_no_room_for_is_said_of_whom_it_concerns():
    """Each vendor's row names the budget, and what was not asked."""
    with endpoint() as one, anthropic() as two:
        tables = rows(("openai", one), ("anthropic", two))
        told = compare(parsed(tables), SHORT, seed=7, till=Till(tokens_max=9_000))
    first, second = (row.result for row in told.providers)
    assert first.outcome is Verdict.CLEAN
    assert "the budget of 9,000 tokens for all was reached before" in second.reason
    assert second.unasked == (3000,)


def test_dollars_of_all_are_counted_by_each_vendors_prices(tmp_path):
    """Also those that an earlier run has spent."""
    with endpoint() as one, endpoint() as two:
        tables = rows(("openai", one), ("openai", two), price_in=3.0, price_out=15.0)
        tables["providers"][1] |= {"price_in": 30.0}
        for usd in (0.02, 0.3):
            till = Till(usd_max=usd)
            told = compare(parsed(tables), ForEach(), seed=7, folder=tmp_path / "kept", till=till)
            assert 0 < told.usd <= usd
        asked = [len(server.asked) for server in (one, two)]
    by_hand = sum(
        row.result.spent.prompt_tokens * price + row.result.spent.answer_tokens * 15.0
        for row, price in zip(told.providers, (3.0, 30.0), strict=True)
    )
    assert told.usd == pytest.approx(by_hand / 10**6)
    assert asked == [row.result.spent.requests for row in told.providers]


def test_a_comparison_that_was_cut_off_goes_on_and_asks_nothing_twice(tmp_path):
    """Each vendor has a journal; the seed of all is the folder's."""
    with endpoint() as one, anthropic() as two:
        tables = rows(("openai", one), ("anthropic", two))

        class StopError(Exception):
            pass

        def watch_of(provider):
            def watch(progress):
                if provider.name == "b" and progress.asked == 2 and progress.under_way:
                    raise StopError

            return watch

        with pytest.raises(BaseExceptionGroup):
            compare(parsed(tables), SHORT, folder=tmp_path / "kept", watch=watch_of)
        first = len(one.asked), len(two.asked)
        told = compare(parsed(tables), SHORT, folder=tmp_path / "kept")
        asked = [len(server.asked) for server in (one, two)]
    assert first == (3, 2)
    assert asked == [3, 3]
    assert told.outcome is Verdict.CLEAN
    assert int((tmp_path / "kept" / "seed").read_text("ascii")) == told.seed


def test_a_comparison_that_is_stopped_tells_what_it_has_and_begins_nobody_else(tmp_path):
    """What was sent is waited for; the next run goes on, and the vendor whose turn had not come is asked then."""
    stop = Stop()

    def watch_of(_provider):
        return lambda progress: stop.ask("Ctrl-C") if progress.asked == 2 and not stop.by else None

    with endpoint() as one, anthropic() as two:
        tables = parsed(rows(("openai", one), ("anthropic", two)))
        told = compare(tables, SHORT, folder=tmp_path / "kept", watch=watch_of, stop=stop)
        first = len(one.asked), len(two.asked)
        whole = compare(tables, SHORT, folder=tmp_path / "kept")
        asked = len(one.asked), len(two.asked)
    assert "Ctrl-C stopped it" in told.providers[0].result.reason
    assert told.providers[1].stopped == "Ctrl-C stopped it before its turn"
    assert first == (told.providers[0].result.requests, 0)
    assert told.outcome is Verdict.UNKNOWN
    assert asked == (3, 3)
    assert whole.outcome is Verdict.CLEAN


def test_every_format_has_all_vendors_and_no_key(tmp_path, keys):
    """JSON, HTML, and the table beside each; exit code 1, for one refuses what it declares."""
    del keys
    early = Behaviour(limit=2000, beyond="refuse", key=KEYS["A_KEY"])
    file = tmp_path / "vendors.toml"
    echo = Behaviour(limit=2000, key=KEYS["B_KEY"])
    with endpoint(early) as one, anthropic(echo, "echo-key") as two, openrouter(Behaviour(key=KEYS["C_KEY"])) as three:
        three.provider = "Azure"
        tables = rows(("openai", one), ("anthropic", two), ("openrouter", three))
        file.write_text(as_toml(tables), encoding="utf-8")
        wanted = ("--lengths", "3000", "--scenario", "sweep", "--journal", str(tmp_path / "kept"))
        written = {}
        for form in ("json", "html"):
            output = tmp_path / f"report.{form}"
            ran = run_kvfence("probe", "--providers", str(file), *wanted, "--format", form, "-o", str(output))
            assert ran.code == 1, ran
            assert "3 providers" in ran.out
            written[form] = output.read_text("utf-8") + ran.out + ran.err
    kept = "".join(path.read_bytes().decode(errors="replace") for path in (tmp_path / "kept").iterdir())
    for key in KEYS.values():
        assert not [form for form, text in written.items() if key in text]
        assert key not in kept
    document = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert [one["refusals"] for one in document["providers"]] == ["too early", "not known", "not known"]
    assert document["providers"][0]["first_failure"]["verdict"] == "refused"
    assert document["providers"][2]["pinned"] == "azure"
    page = (tmp_path / "report.html").read_text("utf-8")
    assert f"--providers {file}" in page
    assert "--seed" in page


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), ("URL", "--providers")),
        (("URL", "--providers", "FILE"), ("a URL beside --providers",)),
        (("--providers", "FILE", "--model", "m", "--context", "9000"), ("--model, --context beside --providers",)),
        (("--providers", "FILE", "--format", "sarif"), ("--format sarif is a report of one endpoint",)),
        (("--providers", "FILE", "--budget-usd", "1"), ("--budget-usd needs prices of every provider; one",)),
    ],
)
def test_wrong_use_is_one_clear_line(tmp_path, args, words):
    """And nothing is sent."""
    file = tmp_path / "vendors.toml"
    table = {"name": "one", "kind": "openai", "url": "http://127.0.0.1:9/v1", "model": "m"}
    file.write_text(as_toml({"providers": [table]}), encoding="utf-8")
    places = {"FILE": str(file), "URL": "http://127.0.0.1:9/v1"}
    assert_one_clear_line(run_kvfence("probe", *(places.get(arg, arg) for arg in args)), *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "tenants.toml: cannot be read: No such file"),
        ("[[tenants]\n", "tenants.toml: cannot be read as TOML"),
        ("", r"tenants.toml: tenants: there is none; begin each with \[\[tenants\]\]"),
        ('[[tenants]]\nname = "a"\n', "tenants.toml: tenants: must be 2 to 64"),
        ('[[tenants]]\nname = "a"\n[[tenants]]\nname = "b"\n[other]\n', "tenants.toml: other: there is no such field"),
    ],
)
def test_a_file_of_tenants_that_is_none_is_one_clear_line(tmp_path, content, words):
    """What is met, where, and what was expected."""
    file = tmp_path / "tenants.toml"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        tenants_from(file, CHAT, None)


def test_a_plan_of_all_costs_what_each_costs_and_sends_nothing(tmp_path):
    """In a table and as JSON; a context that is not in the file is asked for, for nothing is looked up."""
    file = tmp_path / "vendors.toml"
    table = {"name": "one", "kind": "openai", "url": "http://127.0.0.1:9/v1", "model": "m"}
    assert_one_clear_line(_dry(file, table), "--dry-run looks nothing up", "'one' needs its context")
    priced = table | {"context": 8192, "price_in": 1.0, "price_out": 2.0}
    ran = _dry(file, priced, priced | {"name": "two", "price_in": 10.0})
    assert ran.code == 0, ran
    plan = json.loads(ran.out)
    assert [one["name"] for one in plan["providers"]] == ["one", "two"]
    assert plan["usd"] == pytest.approx(sum(one["spent"]["usd"] for one in plan["providers"]))
    assert "all together" in ran.err


def _dry(file, *tables):
    file.write_text(as_toml({"providers": tables}), encoding="utf-8")
    return run_kvfence("probe", "--providers", str(file), "--dry-run", "--format", "json")


def test_tenants_of_one_endpoint_come_from_a_file(tmp_path, keys):
    """Three with a key, a header and a user of their own: all plant but the last, and the report says what differed."""
    del keys
    file = tmp_path / "tenants.toml"
    file.write_text(
        """
        [[tenants]]
        name = "red"
        api_key_env = "A_KEY"
        user = "user-red"
        headers = { X-Team = "red" }
        [[tenants]]
        name = "blue"
        api_key_env = "B_KEY"
        user = "user-blue"
        headers = { X-Team = "blue" }
        [[tenants]]
        name = "green"
        api_key_env = "C_KEY"
        """,
        encoding="utf-8",
    )
    with endpoint() as server:
        wanted = ("--lengths", "3000", "--scenario", "sweep", "--format", "json")
        ran = run_kvfence("probe", server.url, "--tenants", str(file), *wanted)
    assert ran.code == 0, ran
    assert {"user-red", "user-blue"} < {body["user"] for body in server.asked}
    apart = json.loads(ran.out)["tenants_told_apart_by"]
    assert apart == ["api key", "user", "cache_salt", "x-team"]


def test_tenants_of_a_file_ask_at_once_and_a_leak_names_whose_it_is(tmp_path, monkeypatch):
    """Three of them, where four requests under way mix their answers; one after the other it is clean."""
    file = tmp_path / "tenants.toml"
    names = ("red", "blue", "green")
    monkeypatch.setattr("support.manner_servers.WAIT_S", 0.5)  # for the others to come, on a busy machine too
    file.write_text("".join(f'[[tenants]]\nname = "{name}"\nuser = "u-{name}"\n' for name in names), encoding="utf-8")
    *seeders, harvester = (party.tenant(7) for party in tenants_from(file, CHAT, None))
    with manner_server("at-once") as server:
        told = run(
            Options(
                target=Target(base_url=server.url, timeout_s=20),
                seeders=tuple(seeders),
                harvester=harvester,
                bounds=Bounds(lengths=(3000,), seeds_each=1),
                seed=7,
                key=b"key",
                scenarios=(Scenario.SWEEP, Scenario.CONCURRENT),
            )
        )
    leaks = [row for row in told.leaks if row.scenario == "concurrent"]
    assert leaks == list(told.leaks) != []
    assert set() < {mark.planted_by for row in leaks for mark in row.evidence} <= set(names)
    assert {body["user"] for body in server.asked} == {f"u-{name}" for name in names}
    assert server.most_under_way >= 4


def test_the_folder_of_another_comparison_is_one_clear_line(tmp_path):
    """As is one that holds something else, or that cannot be made."""
    folder, file = tmp_path / "kept", tmp_path / "file"
    file.touch()
    nobody = parsed({"providers": [{"name": "one", "kind": "openai", "url": "http://127.0.0.1:9/v1", "model": "m"}]})
    assert compare(nobody, SHORT, seed=7, folder=folder).providers[0].result is None
    with pytest.raises(UsageError, match=r"seed 7, not 8\); name another folder"):
        compare(nobody, SHORT, seed=8, folder=folder)
    with pytest.raises(TargetError, match="no journals can be kept there"):
        compare(nobody, SHORT, folder=file)
    (folder / "seed").write_text("seven\n", encoding="ascii")
    with pytest.raises(UsageError, match="is no seed of kvfence's probe"):
        compare(nobody, SHORT, folder=folder)
