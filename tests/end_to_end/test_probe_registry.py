"""What an endpoint says of an earlier campaign's text is a leak, with whose and when, where a registry was kept."""

import json
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from kvfence.findings.recall import LengthVerdict, ProbeVerdict
from kvfence.probe import Bounds, Options, Target, Tenant, run
from kvfence.probe.journal import Journal
from kvfence.probe.markers import SHAPE
from kvfence.probe.registry.merging import merge
from kvfence.probe.registry.planted import NO_REGISTRY
from kvfence.probe.registry.registry_file import RegistryFile
from kvfence.probe.registry.statements import APPLICATION
from kvfence.report.probe_formats import ProbeFormat, rendered
from kvfence.report.run import Run
from support.probe_servers import Endpoint, endpoint
from support.programs import assert_one_clear_line, run_kvfence

A = Tenant(name="tenant-a", api_key="key-a", salt="salt-a")
B = Tenant(name="tenant-b", api_key="key-b", salt="salt-b")
WHEN_S = 1_790_000_000
WHEN = "2026-09-21T14:13:20Z"
RUN = Run(command="probe", at=datetime(2026, 12, 3, tzinfo=UTC), took_s=1.0)
SECRET = "hunter2hunter2hunter2"


def campaign(server: Endpoint, registry, *, seed, key, recorder=None):
    target = Target(base_url=server.url.replace("//", f"//user:{SECRET}@"), timeout_s=20)
    options = Options(target=target, seeders=(A,), harvester=B, bounds=Bounds(), seed=seed, key=key, registry=registry)
    return run(options, recorder=recorder) if recorder else run(options)


def only_earlier(server: Endpoint) -> None:
    """From here on the server's stale pages are those of what it was sent up to now."""
    kept = tuple(("somebody", text) for _, text in server.prompts)

    class Stale(list[tuple[str, str]]):
        def append(self, _prompt: tuple[str, str]) -> None:
            pass

    server.prompts = Stale(kept)


@pytest.mark.parametrize(("beyond", "merged"), [("leak", True), ("cut", False)])
def test_a_marker_of_an_earlier_campaign_is_a_leak_with_whose_and_when(tmp_path, beyond, merged):
    """Whole or cut, by a campaign with another seed and key, long after, through another door of the same backend.

    From the same file, or from one that another machine kept.
    """
    path = tmp_path / "registry.sqlite"
    with endpoint() as server:
        with RegistryFile(path, clock=lambda: WHEN_S) as registry:
            first = campaign(server, registry, seed=1, key=b"one")
        if merged:
            merge([path], path := tmp_path / "another machine's")
        planted_through = server.url
        only_earlier(server)
        server.now(limit=3000, beyond=beyond)
        server.url = server.url.replace("127.0.0.1", "localhost")
        with RegistryFile(path) as registry:
            second = campaign(server, registry, seed=2, key=b"two")
    assert (first.verdict, second.verdict) == (ProbeVerdict.CLEAN, ProbeVerdict.LEAK)
    leak = next(row for row in second.lengths if row.verdict is LengthVerdict.LEAK)
    origin = leak.evidence[0].origin
    assert origin is not None
    assert (origin.seed, origin.model, origin.planted_at) == ("1", "copier", WHEN)
    assert origin.endpoint == planted_through != second.url
    assert leak.evidence[0].planted_by in {"tenant-a", "tenant-b"}
    assert origin.campaign in second.reason
    assert WHEN in second.reason
    for form in (ProbeFormat.JSON, ProbeFormat.SARIF, ProbeFormat.HTML):
        said = rendered(second, form, RUN)
        assert origin.campaign in said, form
        assert WHEN in said, form


def test_without_a_registry_a_whole_marker_is_said_to_be_of_another_campaign():
    """A leak all the same, of nobody that is known."""
    with endpoint() as server:
        campaign(server, NO_REGISTRY, seed=1, key=b"one")
        only_earlier(server)
        server.now(limit=3000, beyond="leak")
        result = campaign(server, NO_REGISTRY, seed=2, key=b"two")
    assert result.verdict is ProbeVerdict.LEAK
    assert "a well-formed marker of another campaign or key" in result.reason
    assert {mark.origin for row in result.lengths for mark in row.evidence} == {None}


def test_the_program_says_whose_in_the_table_and_in_json(tmp_path):
    """Exit 1, and no marker whole, no password."""
    path = tmp_path / "registry.sqlite"
    report = tmp_path / "report.json"
    with endpoint() as server:
        url = server.url.replace("//", f"//user:{SECRET}@")
        common = ("probe", url, "--registry", str(path), "--scenario", "sweep")
        clean = run_kvfence(*common, "--seed", "1")
        only_earlier(server)
        server.now(limit=3000, beyond="leak")
        leaked = run_kvfence(*common, "--seed", "2", "--format", "json", "-o", str(report))
        shown = run_kvfence("registry", str(path), "--format", "json")
    assert (clean.code, leaked.code) == (0, 1), clean.err + leaked.err
    evidence = [mark for row in json.loads(report.read_text())["lengths"] for mark in row["evidence"]]
    kept = {one["seed"]: one for one in json.loads(shown.out)["campaigns"]}
    for mark in evidence:
        assert mark["origin"]["campaign"] == kept["1"]["campaign"]
        assert mark["origin"]["endpoint"] == server.url
        assert mark["origin"]["planted_at"] >= kept["1"]["first_planted_at"]
    assert evidence
    table = " ".join(leaked.out.split())
    assert kept["1"]["campaign"] in table
    for text in (leaked.out, leaked.err, report.read_text(), shown.out):
        assert not SHAPE.search(text)
        assert SECRET not in text
    assert SECRET.encode() not in path.read_bytes()


def test_every_marker_is_known_before_its_prompt_is_sent(tmp_path):
    """At the moment a prompt arrives at the server, the file on disk has its markers."""
    path = tmp_path / "registry.sqlite"
    missing = []

    class Watching(Endpoint):
        def complete(self, body):
            with RegistryFile(path, read_only=True) as registry:
                texts = set(SHAPE.findall(str(body)))
                known = {one.text for one in registry.whose(frozenset(text[:11] for text in texts))}
                missing.extend(texts - known)
            return super().complete(body)

    with endpoint() as server:
        watching = Watching(server.url, server.behaviour)
        server.complete = watching.complete  # type: ignore[method-assign]
        with RegistryFile(path) as registry:
            result = campaign(server, registry, seed=1, key=b"one")
    assert result.verdict is ProbeVerdict.CLEAN
    assert watching.prompts
    assert missing == []


class Stopped(Exception):  # noqa: N818 — not an error of the product
    """The machine lost its power here."""


class StopsAtThird(Journal):
    """A journal whose program dies when its third request is written down: it is not sent."""

    def sent(self, round_index, exchange):
        super().sent(round_index, exchange)
        if exchange.recipe.request == 2:
            raise Stopped


def test_a_campaign_that_goes_on_plants_nothing_twice(tmp_path):
    """Each request stands once in the registry, that which was cut off as well; its time is not known."""
    with endpoint() as server:
        with (
            pytest.raises(ExceptionGroup),
            StopsAtThird(tmp_path / "j") as journal,
            RegistryFile(tmp_path / "r") as registry,
        ):
            campaign(server, registry, seed=1, key=b"one", recorder=journal)
        for _ in range(2):
            with Journal(tmp_path / "j") as journal, RegistryFile(tmp_path / "r") as registry:
                result = campaign(server, registry, seed=1, key=b"one", recorder=journal)
    assert result.verdict is ProbeVerdict.CLEAN
    with RegistryFile(tmp_path / "r", read_only=True) as registry:
        prompts = list(registry.prompts())
    assert sorted(one.request for one in prompts) == list(range(result.requests))
    assert [one.request for one in prompts if not one.planted_ms] == [2]


def test_a_registry_that_cannot_be_kept_stops_the_campaign_before_it_sends(tmp_path):
    """Another program's file, a folder: one clear line, nothing asked."""
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 20)
    with endpoint() as server:
        for name in ("text", ""):
            ran = run_kvfence("probe", server.url, "--registry", str(tmp_path / name))
            assert_one_clear_line(ran, "name another file")
        assert server.asked == []


def test_a_disk_that_is_full_stops_the_campaign_before_it_sends(tmp_path):
    """The file can grow no further, whether it is new or has room for a campaign's name and no more: one clear line."""
    with endpoint() as server:
        for size in (0, 40_000):
            path = tmp_path / f"{size}"
            full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
            program = f"{full}\nfrom kvfence.__main__ import main\nmain()"
            for option, file in (("--journal", tmp_path / f"{size}-journal"), ("--registry", path)):
                command = [sys.executable, "-c", program, "probe", server.url, option, str(file), "--seed", "1"]
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
                assert (done.returncode, done.stdout) == (2, ""), done.stderr
                assert len(done.stderr.strip().splitlines()) == 1, done.stderr
                assert str(file) in done.stderr
                if option == "--journal":
                    server.asked.clear()
        with RegistryFile(path, read_only=True) as registry:
            markers = {text for one in registry.prompts() for text in one.markers}
    sent = {text for body in server.asked for text in SHAPE.findall(str(body))}
    assert sent <= markers


def test_a_dry_run_writes_no_file(tmp_path):
    """Neither a registry nor a journal."""
    kept = ("--registry", str(tmp_path / "registry"), "--journal", str(tmp_path / "journal"))
    with endpoint() as server:
        ran = run_kvfence("probe", server.url, "--context", "8192", "--dry-run", *kept)
    assert ran.code == 0, ran.err
    assert list(tmp_path.iterdir()) == []
    assert server.asked == []


def test_what_is_no_registry_is_not_merged(tmp_path):
    """One clear line, and what was to be merged into stays as it is."""
    (tmp_path / "text").write_text("some text " * 100)
    newer = sqlite3.connect(tmp_path / "newer")
    newer.executescript(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 9; CREATE TABLE other (id);")
    newer.close()
    with RegistryFile(tmp_path / "all"):
        pass
    before = (tmp_path / "all").read_bytes()
    for name, said in (("text", "no database at all"), ("newer", "use a newer kvfence"), ("none", "No such file")):
        ran = run_kvfence("registry", str(tmp_path / "all"), str(tmp_path / name), "--merge", str(tmp_path / "all"))
        assert_one_clear_line(ran, said)
    assert (tmp_path / "all").read_bytes() == before


def test_markers_in_any_text_are_attributed(tmp_path):
    """In a file, a text, on standard input: lower case, cut, in a long line; a look-alike is nobody's."""
    with endpoint() as server:
        with RegistryFile(tmp_path / "a") as registry:
            campaign(server, registry, seed=1, key=b"one")
        with RegistryFile(tmp_path / "b") as registry:
            campaign(server, registry, seed=2, key=b"two")
            marker = next(registry.prompts()).markers[0]
    (tmp_path / "complaint").write_text(f"hello\nit said {'x ' * 600_000}{marker.lower()} to me\n")
    merged = run_kvfence("registry", str(tmp_path / "a"), str(tmp_path / "b"), "--merge", str(tmp_path / "all"))
    assert merged.code == 0, merged.err
    complaint = str(tmp_path / "complaint")
    places = ("--find", complaint, "--find", f"why do I see {marker[6:17]} here", "--find", "-")
    ran = run_kvfence("registry", str(tmp_path / "all"), "--format", "json", *places, stdin=f"a\nb\n{marker}")
    found = [
        (one["where"], one["line"], one["is_whole"], one["origin"]["seed"]) for one in json.loads(ran.out)["found"]
    ]
    assert ran.code == 1
    assert found == [(complaint, 2, True, "2"), ("the text", 1, False, "2"), ("standard input", 3, True, "2")]
    assert marker not in ran.out + ran.err
    nothing = run_kvfence("registry", str(tmp_path / "all"), "--find", "ABCDE-FGHJK-MNPQR-STVWX-YZ012")
    assert nothing.code == 0, nothing
    assert_one_clear_line(run_kvfence("registry", str(tmp_path / "all"), "--find", "nothing here"), "no such file")
    assert_one_clear_line(run_kvfence("registry", str(tmp_path / "complaint")), "name another file")
