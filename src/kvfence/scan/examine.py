"""The whole of a scan: what is read, what is looked for in it, and what could not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kvfence.findings.exposure import Exposure, Hour, NotRead, TextCoverage
from kvfence.findings.preview import Preview
from kvfence.scan.counting import Counts
from kvfence.scan.credentials.finding import Kinds
from kvfence.scan.credentials.names import with_told_names
from kvfence.scan.credentials.rotation import rotation
from kvfence.scan.credentials.secret_pass import secret_pass
from kvfence.scan.exchange import Coverage, Unread
from kvfence.scan.foreign.comparing import found_by
from kvfence.scan.foreign.joining import pairs_files
from kvfence.scan.foreign.matches import ForeignText
from kvfence.scan.foreign.owners import Isolation
from kvfence.scan.foreign.spans import Found
from kvfence.scan.passing.choice import Processes, Where, engine_for
from kvfence.scan.passing.engine import Engine
from kvfence.scan.passing.passed import Passed, do, passed
from kvfence.scan.passing.scan_pass import Pass
from kvfence.scan.passing.task import Job, T
from kvfence.scan.passing.units import UNIT_BYTES, Unit, units_of
from kvfence.scan.passing.work_folder import WorkFolder, work_folder
from kvfence.scan.reading.source import Source
from kvfence.scan.signs.sign_pass import Signs
from kvfence.scan.signs.telling import signs_of
from kvfence.scan.skipped import Skipped
from kvfence.scan.timeline import Timeline
from kvfence.scan.window import Window

STEPS = {
    "first": "reading",
    "second": "comparing with what was read",
    "third": "joining what met",
    "fourth": "comparing texts",
}
"""No text is kept, so all are read again to be met with what was kept of the answers, and then what met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a scan is asked for, besides its inputs."""

    window: Window = field(default_factory=Window)
    secrets: Kinds = field(default_factory=Kinds)
    fingerprint_key: bytes | None = field(default=None, repr=False)
    """Of the fingerprints of secrets; None for one that no other run has."""
    preview: Preview = Preview.REDACTED
    """How much is shown of foreign text."""
    isolation: Isolation | None = None
    """Whose text must not be seen by whom; None for what the log suggests."""
    limit: int | None = None
    """Tokens of a prompt that the deployment could hold, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a scan may use. It changes no row of what is found."""

    where: Where = field(default_factory=lambda: Processes(1))
    work: Path | None = None
    """Where what was found on the way is left, to go on with after a kill; None for a folder that goes with the run."""
    rules: Path | None = None
    """A folder that keeps compiled rules from one run to the next, and nothing else; None to compile them each time."""
    unit_bytes: int = UNIT_BYTES
    """How much is done at a time, and done again after a kill."""
    on_done: Callable[[str, int, int], None] = lambda _doing, _done, _of: None
    """Told what is done, and bytes: how many are done, and of how many."""


def examined(sources: Sequence[Source], asked: Asked, means: Means) -> Exposure:
    """What these inputs say. Nothing is raised for what is bad in them.

    Raises:
        OSError: what is found on the way cannot be written.
        TargetError: there can be no work folder.
        UnsupportedError: workers die again and again.
        UsageError: the work folder holds the work of another scan.
    """
    units = units_of(sources, unit_bytes=means.unit_bytes)
    with work_folder(means.work) as folder:
        secrets = secret_pass(asked.fingerprint_key or folder.key, asked.window, asked.secrets, rules=means.rules)
        foreign = ForeignText(
            key=folder.key, folder=folder.path / "step-foreign", preview=asked.preview, isolation=asked.isolation
        )
        steps = _Steps(sources, units, folder, means)
        first = steps.read("first", (Counts(asked.window), Signs(asked.window, asked.limit), secrets, *foreign.first))
        second = steps.read("second", foreign.second(first.batches))
        found = steps.compare(foreign, second)
        covered, exposed, hours = _counted(first)
        signed = signs_of(first.batches("signs"), sources)
        seen = Exposure(
            requests=covered.total(),
            exposed=exposed,
            coverage=TextCoverage(**{str(kind): covered[kind] for kind in Coverage}),
            not_read=tuple(_not_read(sources, first.unread())),
            matches=foreign.matches(found, sources),
            signs=signed.signs,
            signs_left_out=signed.left_out,
            credentials=rotation(first.batches("secrets"), spill=str(first.folder / "spill")),
            window=asked.window,
            hours=hours,
        )
        return with_told_names(seen, secrets.told()) if seen.matches or seen.signs else seen


@dataclass(frozen=True, slots=True)
class _Steps:
    """What is done with the inputs, one after the other."""

    sources: Sequence[Source]
    units: Sequence[Unit]
    folder: WorkFolder
    means: Means

    def read(self, name: str, passes: Sequence[Pass]) -> Passed:
        """The rows of these passes over all inputs, read from beginning to end."""
        folder = self.folder.step(name, self.sources, passes)
        return passed(passes, self.units, engine=self._engine(), folder=folder, on_done=self._counted(name, self.units))

    def compare(self, foreign: ForeignText, second: Passed) -> Iterator[tuple[int, Found]]:
        """What is found where what met is joined, and its texts are compared."""
        join = foreign.third([*second.files("probes")])
        joins = join.tasks()
        joined = self._done("third", join, joins)
        compare, comparisons = foreign.fourth(pairs_files(joined, joins), self.sources)
        return found_by(comparisons, self._done("fourth", compare, comparisons))

    def _done(self, name: str, job: Job[T], tasks: Sequence[T]) -> Path:
        """The folder in which these tasks are done."""
        folder = self.folder.step(name, self.sources, [job])
        do(job, tasks, engine=self._engine(), folder=folder, on_done=self._counted(name, tasks))
        return folder

    def _engine(self) -> Engine:
        return engine_for(self.units, self.means.where)

    def _counted(self, name: str, tasks: Sequence[T]) -> Callable[[T], None]:
        all_bytes, done = sum(task.size for task in tasks), 0

        def on_done(task: T) -> None:
            nonlocal done
            done += task.size
            self.means.on_done(STEPS[name], done, all_bytes)

        return on_done


def _counted(first: Passed) -> tuple[Counter[Coverage], int, tuple[Hour, ...]]:
    covered: Counter[Coverage] = Counter()
    exposed, timeline = 0, Timeline()
    for batch in first.batches("counts"):
        for row in batch.to_pylist():
            inside = row["requests"] * row["is_inside"]
            covered[Coverage(row["coverage"])] += row["requests"]
            exposed += inside
            timeline.add(row["hour"], requests=row["requests"], exposed=inside)
    return covered, exposed, timeline.hours()


def _not_read(sources: Sequence[Source], unread: Iterable[Unread]) -> Iterator[NotRead]:
    by_source: dict[int, Skipped] = {}
    for one in unread:
        by_source.setdefault(one.source, Skipped(sources[one.source])).add(one)
    for skipped in by_source.values():
        yield from skipped.told()
