"""A registry on a real file: what was planted is found by any piece, by any process, and no other file is touched."""

import contextlib
import random
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvfence.errors import TargetError, UsageError
from kvfence.probe.markers import Place, make_marker, pieces_in
from kvfence.probe.registry.merging import merge
from kvfence.probe.registry.planted import KnownCampaign, PlantedPrompt
from kvfence.probe.registry.registry_file import RegistryFile
from kvfence.probe.registry.statements import APPLICATION

CAMPAIGNS = tuple(
    KnownCampaign(id=f"{number:016x}", seed=str(number), url="http://h/v1", model="m") for number in range(3)
)


def prompt(number, *, campaign=0, depths=2, planted_ms=1_700_000_000_000):
    rng = random.Random(number)
    places = (Place("tenant-a", number, depth) for depth in range(1, depths + 1))
    return PlantedPrompt(
        campaign=CAMPAIGNS[campaign].id,
        tenant="tenant-a",
        request=number,
        tokens=4096,
        planted_ms=planted_ms,
        markers=tuple(make_marker(rng, b"key", place).text for place in places),
    )


def filled(path, prompts):
    with RegistryFile(path) as registry:
        registry.plant_all(prompts, campaigns=CAMPAIGNS)
    return path


def content(path):
    with RegistryFile(path, read_only=True) as registry:
        known = set(registry.prompts())
        for one in known:
            for depth, text in enumerate(one.markers, start=1):
                for piece in pieces_in(text):
                    found = registry.whose(frozenset({piece}))
                    assert (text, depth, one.request) in {(it.text, it.depth, it.origin.request) for it in found}
        return known, set(registry.campaigns())


def test_a_marker_is_known_by_each_of_its_pieces_and_says_whose_it_is(tmp_path):
    """Also after the file was closed."""
    one = prompt(7)
    path = filled(tmp_path / "r", [one, prompt(8)])
    with RegistryFile(path) as registry:
        for text in one.markers:
            for piece in pieces_in(text):
                (found,) = registry.whose(frozenset({piece}))
                assert (found.text, found.tenant, found.tokens) == (text, "tenant-a", 4096)
                assert found.origin.planted_at == "2023-11-14T22:13:20Z"
                assert (found.origin.request, found.origin.endpoint) == (7, "http://h/v1")


def test_a_look_alike_is_nobodys(tmp_path):
    """One whose groups are all changed has no piece of a planted marker."""
    path = filled(tmp_path / "r", [prompt(1)])
    with RegistryFile(path) as registry:
        assert registry.whose(pieces_in("ABCDE-FGHJK-MNPQR-STVWX-YZ012")) == ()


def test_more_pieces_than_one_statement_takes_are_looked_up(tmp_path):
    """A long answer that is nothing but pieces still finds the one that was planted."""
    path = filled(tmp_path / "r", [prompt(1)])
    many = frozenset().union(*(pieces_in(text) for number in range(100, 600) for text in prompt(number).markers))
    assert len(many) > 2_000
    with RegistryFile(path) as registry:
        assert len(registry.whose(many | pieces_in(prompt(1).markers[0]))) == 1


parts = st.lists(
    st.builds(
        prompt,
        st.integers(0, 6),
        campaign=st.integers(0, 2),
        planted_ms=st.sampled_from([0, 1_700_000_000_000, 1_700_000_000_001]),
    ),
    max_size=6,
)


@settings(max_examples=12)
@given(one=parts, other=parts, third=parts)
def test_merging_is_a_union(tmp_path_factory, one, other, third):
    """In any order, again and again, also into one of the sources: the same content, and every piece finds it."""
    folder = tmp_path_factory.mktemp("merge")
    sources = [filled(folder / name, prompts) for name, prompts in (("a", one), ("b", other), ("c", third))]
    merge(sources, folder / "once")
    merge(sources[::-1], folder / "turned")
    merge([sources[0], sources[1]], folder / "two")
    merge([folder / "two", sources[2], sources[2]], folder / "in steps")
    merge([folder / "once"], folder / "turned")
    merge(sources[1:], sources[0])
    expected = (set(one) | set(other) | set(third), set(CAMPAIGNS))
    for name in ("once", "turned", "in steps", "a"):
        assert content(folder / name) == expected


def test_the_same_prompt_has_the_same_id_everywhere_and_another_time_another():
    """It follows from content."""
    assert prompt(1).id == prompt(1).id
    assert len({prompt(1).id, prompt(2).id, prompt(1, campaign=1).id, prompt(1, planted_ms=0).id}) == 4


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = {folders!r}
from test_registry_file import CAMPAIGNS, prompt
from kvfence.probe.registry.registry_file import RegistryFile
with RegistryFile(Path({path!r})) as registry:
    registry.begin(CAMPAIGNS[0])
    for number in range({first}, {first} + 20):
        registry.plant(prompt(number))
        assert registry.whose(frozenset([prompt(number).markers[0][:11]])), number
"""


def test_several_processes_write_to_one_file_at_once(tmp_path):
    """They make it together, and nothing that one of them planted is missing."""
    path = tmp_path / "shared"
    folders = [str(Path(__file__).parent), *sys.path]
    programs = [
        subprocess.Popen([sys.executable, "-c", WRITER.format(folders=folders, path=str(path), first=first)])
        for first in (0, 20, 40)
    ]
    assert [program.wait(100) for program in programs] == [0, 0, 0]
    known, _ = content(path)
    assert {one.request for one in known} == set(range(60))


def test_what_was_planted_outlives_a_process_that_is_killed(tmp_path):
    """It is on disk when `plant` returns."""
    path = tmp_path / "killed"
    dies = WRITER.format(folders=[str(Path(__file__).parent), *sys.path], path=str(path), first=0)
    program = subprocess.run([sys.executable, "-c", f"{dies}    import os; os.kill(os.getpid(), 9)\n"], check=False)
    assert program.returncode == -9
    known, _ = content(path)
    assert len(known) == 20


DIES = """
import os, sys
from pathlib import Path
sys.path[:0] = {folders!r}
from test_registry_file import prompt
from kvfence.probe.registry.registry_file import RegistryFile
registry = RegistryFile(Path({path!r}))
registry._database.execute("PRAGMA cache_size = 1")

def prompts():
    for number in range(1, 2000):
        yield prompt(number)
    os.kill(os.getpid(), 9)

registry.plant_all(prompts())
"""


@pytest.mark.parametrize("read_only", [True, False])
def test_a_program_that_is_killed_in_the_middle_of_writing_leaves_what_was_there(tmp_path, read_only):
    """Half of a merge is on disk, and so is the journal that takes it back: whoever comes next, only to read or not."""
    path = filled(tmp_path / "killed", [prompt(0)])
    dies = DIES.format(folders=[str(Path(__file__).parent), *sys.path], path=str(path))
    assert subprocess.run([sys.executable, "-c", dies], check=False).returncode == -9
    assert (tmp_path / "killed-journal").stat().st_size > 0
    with RegistryFile(path, read_only=read_only) as registry:
        assert list(registry.prompts()) == [prompt(0)]
    assert content(path)[0] == {prompt(0)}


@pytest.mark.parametrize("name", [":memory:", "file:x?mode=memory", "a?mode=ro", "a#b", "a%41", "-x", "a\nb", "ü"])
def test_a_file_may_have_any_name(tmp_path, monkeypatch, name):
    """What SQLite takes for something else than a file too."""
    monkeypatch.chdir(tmp_path)
    path = filled(Path(name), [prompt(1)])
    assert content(path)[0] == {prompt(1)}
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def database(path, statements):
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    return path


NEWER = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 2; CREATE TABLE other (id);"


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("some text " * 100), "no database"),
        (lambda path: path.write_text("x"), "no database"),
        (lambda path: database(path, "CREATE TABLE theirs (id);"), "is a database, and not"),
        (lambda path: database(path, "PRAGMA application_id = 5; CREATE TABLE t (id);"), "is a database, and not"),
        (lambda path: database(path, "PRAGMA journal_mode = WAL; CREATE TABLE t (id);"), "is a database, and not"),
        (lambda path: database(path, NEWER), "version 2, and this kvfence reads up to 1"),
    ],
)
def test_a_file_of_another_program_or_a_newer_version_is_refused_and_untouched(tmp_path, make, said, read_only):
    """Byte for byte, and nothing lies beside it."""
    path = tmp_path / "theirs"
    make(path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=said):
        RegistryFile(path, read_only=read_only)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_that_crashed_in_wal_is_left_to_its_owner(tmp_path):
    """What another program had not yet written back stays as it is."""
    path = tmp_path / "theirs"
    script = (
        f"import os, sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('PRAGMA journal_mode = WAL');"
        "c.executescript('CREATE TABLE t (id); INSERT INTO t VALUES (1);'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert "theirs-wal" in before
    with pytest.raises(UsageError, match="is a database, and not"):
        RegistryFile(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("place", ["", "no/such/folder", "x" * 300])
def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path, place):
    """A folder, one in no folder, a name too long."""
    with pytest.raises(TargetError, match="name another file"):
        RegistryFile(tmp_path / place)


def steps_of_a_lookup(path, prompts):
    """How many instructions SQLite needs to find the first marker."""
    filled(path, prompts)
    steps = []
    with RegistryFile(path, read_only=True) as registry:
        registry._database.set_progress_handler(lambda: steps.append(1), 1)
        assert len(registry.whose(pieces_in(prompts[0].markers[0]))) == 1
    return len(steps)


def test_a_lookup_takes_no_longer_among_many_markers(tmp_path):
    """It reads no table from end to end."""
    few = steps_of_a_lookup(tmp_path / "few", [prompt(number) for number in range(4)])
    many = steps_of_a_lookup(tmp_path / "many", [prompt(number) for number in range(400)])
    assert many < 2 * few


def test_a_file_merged_into_itself_stays_as_it_is(tmp_path):
    """As `--merge` into one of the registries that are read."""
    path = filled(tmp_path / "a", [prompt(1)])
    other = filled(tmp_path / "b", [prompt(2)])
    merge([path, other], path)
    assert content(path)[0] == {prompt(1), prompt(2)}


def test_it_is_for_its_owners_eyes(tmp_path):
    """Whoever reads it could plant its markers."""
    path = filled(tmp_path / "r", [prompt(1)])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_with_any_damage_is_one_clear_line_or_still_a_registry(tmp_path, data):
    """Nothing hangs, and no error is of another kind."""
    path = filled(tmp_path / "damaged", [prompt(number) for number in range(30)])
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + 8] = data.draw(st.binary(min_size=1, max_size=8))
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    with contextlib.suppress(UsageError, TargetError), RegistryFile(path) as registry:
        registry.kept()
        list(registry.prompts())
        registry.whose(pieces_in(prompt(3).markers[0]))
        registry.plant(prompt(99))
    path.unlink()


def test_an_error_whose_words_are_no_text_is_one_clear_line(tmp_path):
    """SQLite quotes the damaged file in it."""
    path = filled(tmp_path / "r", [prompt(1)])
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE piece", b"CREATE TABL\xde piece"))
    with pytest.raises(TargetError, match="name another file"):
        RegistryFile(path, read_only=True)


def test_a_registry_with_other_things_in_its_rows_is_one_clear_line(tmp_path):
    """As somebody may write who shares one."""
    path = filled(tmp_path / "r", [prompt(1)])
    connection = sqlite3.connect(path)
    connection.execute("UPDATE prompt SET markers = x'00ff'")
    connection.commit()
    connection.close()
    with RegistryFile(path) as registry, pytest.raises(TargetError, match="something else"):
        registry.whose(pieces_in(prompt(1).markers[0]))
