"""`kvfence scan`: what past requests and answers say of an exposure. Options and exit codes only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic

import typer

from kvfence.cli import scan_options as given
from kvfence.cli.audit_output import ExitZeroOption, OutputOption
from kvfence.cli.output import exit_code, run_of
from kvfence.cli.scan_custody import opened
from kvfence.cli.scan_output import Outputs
from kvfence.cli.scan_progress import scan_progress
from kvfence.errors import KvfenceError, UnsupportedError, UsageError
from kvfence.findings.preview import Preview
from kvfence.report.scan_facts import ScanFacts
from kvfence.report.scan_formats import ScanFormat


def scan(
    files: given.Files,
    *,
    input_format: given.InputFormat = None,
    mapping: given.MappingFile = None,
    exposed_after: given.ExposedAfter = None,
    since: given.From = None,
    until: given.To = None,
    model: given.Model = None,
    incident: given.Incident = False,
    limit: given.Limit = None,
    audit: given.Audit = None,
    personal_data: given.PersonalData = False,
    generic_secrets: given.GenericSecrets = False,
    isolation: given.IsolationOption = given.Keeping.AUTO,
    fingerprint_key: given.FingerprintKey = None,
    workers: given.Workers = None,
    work: given.Work = None,
    ray: given.Ray = None,
    spark: given.Spark = None,
    output_format: given.FormatOption = ScanFormat.TABLE,
    output: OutputOption = None,
    rotation: given.Rotation = None,
    letter_for: given.LetterFor = None,
    trail: given.Trail = None,
    redact: given.Redact = True,
    exit_zero: ExitZeroOption = False,
) -> None:
    """Did it happen to us, which answers, whose text, what must be rotated? Read from logs of requests and answers.

    What runs today: the logs are read and counted, with how much of each text they kept, and which requests are in the
    window asked about; secrets in the prompts and answers of those, each once, never shown whole, with a keyed hash to
    find it again; foreign text: each stretch of 64 bytes and more of an answer that stands in a request of
    another tenant that began before it ended, and in none of its own; and signs that an answer was made without its
    context, each with how often such a one was right (docs/scan-signs.md), which alone are no finding. It needs the
    extra named scan.

    What a log does not say (a time, a model, a length) never excludes a request. Nothing is sent anywhere, and no text
    is kept. Exit codes: 0 clean, 1 found, 2 wrong use, 3 inconclusive (not all could be read or looked at).

    Example: kvfence scan logs/ --exposed-after 681280 --from 2026-08-27 --format json -o scan.json
    """
    with _scanning():
        from kvfence.scan.audited_limit import limit_of  # noqa: PLC0415 — the same
        from kvfence.scan.credentials.finding import Kinds  # noqa: PLC0415 — the same
        from kvfence.scan.credentials.fingerprint import key_of  # noqa: PLC0415 — the same
        from kvfence.scan.custody import seen_after, seen_before  # noqa: PLC0415 — the same
        from kvfence.scan.examine import Asked, Means, examined  # noqa: PLC0415 — Arrow is heavy, and need not be there
        from kvfence.scan.foreign.owners import Isolation  # noqa: PLC0415 — the same
        from kvfence.scan.mapping import mapping_of  # noqa: PLC0415 — the same
        from kvfence.scan.passing.choice import where_of  # noqa: PLC0415 — the same
        from kvfence.scan.reading.inputs import sources_of  # noqa: PLC0415 — the same
        from kvfence.scan.secrecy import no_core_dumps  # noqa: PLC0415 — the same
        from kvfence.scan.window import INCIDENT, Window  # noqa: PLC0415 — the same

        began = monotonic()
        no_core_dumps()
        _check_format(input_format, is_mapped=mapping is not None)
        begins, ends = given.ms_of_option("--from", since), given.ms_of_option("--to", until)
        window = Window(longer_than=exposed_after, from_ms=begins, to_ms=ends, model=model)
        asked = Asked(
            window=window.filled_from(INCIDENT) if incident else window,
            secrets=Kinds(personal=personal_data, generic=generic_secrets),
            fingerprint_key=key_of(fingerprint_key) if fingerprint_key else None,
            preview=Preview.REDACTED if redact else Preview.READABLE,
            isolation=None if isolation is given.Keeping.AUTO else Isolation(isolation),
            limit=limit_of(limit, audit) or (INCIDENT.longer_than if incident else None),
        )
        where = where_of(ray=ray, spark=spark, workers=workers or given.cores(), work=work)
        sources = sources_of(files, asked=input_format, mapping=mapping_of(mapping) if mapping else None)
        outputs = Outputs(form=output_format, report=output, rotation=rotation, letter_for=letter_for, trail=trail)
        outputs.check([source.target for source in sources])
        before = seen_before(sources)
        custody = opened(before, partial(seen_after, sources, before, hashed=trail is not None), trail)
        with scan_progress(report_on_stdout=outputs.takes_stdout) as told:
            means = Means(where=where, work=work, rules=given.rules_folder(), on_done=told)
            seen = examined(sources, asked, means)
        run, read = custody.run(run_of("scan", began=began)), custody.read()
    outputs.write(seen, ScanFacts(run=run, read=read, letter_for=letter_for))
    custody.close(run, seen, read=read, wrote=outputs.files())
    raise typer.Exit(exit_code(seen.verdict, exit_zero=exit_zero))


def _check_format(name: str | None, *, is_mapped: bool) -> None:
    from kvfence.scan.formats.catalogue import BY_NAME  # noqa: PLC0415 — Arrow is heavy, and need not be there

    if name is not None and name not in BY_NAME:
        raise UsageError(f"--input-format {name}: no such format; there are {', '.join(BY_NAME)}")
    if is_mapped and name not in {None, "mapping"}:
        raise UsageError(f"--mapping describes a format, and --input-format {name} names another; give one")


@contextmanager
def _scanning() -> Iterator[None]:
    """Whatever goes wrong in here is told without the text of an exception: it might quote what was read."""
    try:
        yield
    except (KvfenceError, MemoryError, OSError, typer.Exit):
        raise
    except ImportError as error:
        raise UnsupportedError(
            f"scan needs {error.name}, which is not installed: pip install 'kvfence[scan]'"
        ) from error
    except Exception as error:
        import os  # noqa: PLC0415 — hardly ever

        if "KVFENCE_TRACEBACK" in os.environ:
            raise
        raise _Hidden(type(error).__name__) from None


class _Hidden(Exception):  # noqa: N818 — never caught by name
    """An error of ours whose message might hold somebody's text."""
