"""A scan as a letter for a regulator, or for one tenant: figures and plain words, and no text of any customer.

The letter to a regulator names nobody, no request and no file. The letter to a tenant names its own requests, and of
others only that there were some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from operator import not_

from kvfence.findings.exposure import Exposure, Match
from kvfence.report.markdown_cells import literal, table
from kvfence.report.plain import plain_name
from kvfence.report.plain_scan import plain_scan
from kvfence.report.scan_facts import ScanFacts, digest
from kvfence.report.scan_tenant import of_tenant
from kvfence.report.scan_words import INHERENT, counted, coverage_rows, reach, window_words
from kvfence.report.times import at_utc, shown_utc

ROWS_MAX = 200
"""Requests of one list: a letter is read by a person."""
_FILL_IN = (
    "who writes this, and whom to ask",
    "when and how it was noticed, and what was done since",
    "what is done so that it does not happen again",
    "what the reader should do, and by when",
)

_SHOWN = {True: "yes", False: "not seen"}


def document(seen: Exposure, facts: ScanFacts) -> str:
    """The letter that is asked for, with a newline at its end."""
    return letter(seen, facts) if facts.letter_for is None else tenant_letter(seen, facts.letter_for, facts)


def letter(seen: Exposure, facts: ScanFacts) -> str:
    """To a regulator, or to whoever needs the whole in figures; with a newline at its end."""
    plain = plain_scan(seen)
    parts = [
        "# Text of one customer in answers to another: what the logs say\n",
        *_paragraphs(_happened(plain)),
        "## In figures\n",
        table(("what", "how many"), list(_figures(plain))),
        "## What was looked at\n",
        *_paragraphs(_looked_at(plain)),
        *_end(seen, plain, facts),
    ]
    return "\n".join(parts)


def tenant_letter(seen: Exposure, tenant: str, facts: ScanFacts) -> str:
    """To one tenant, of what concerns it alone; with a newline at its end. `tenant`: as the logs name it."""
    theirs, name = of_tenant(seen, tenant), literal(plain_name(tenant))
    plain = plain_scan(theirs)
    is_given = [match.source.tenant == tenant for match in theirs.matches]
    given = list(compress(plain.matches, is_given))
    taken = list(compress(plain.matches, map(not_, is_given)))
    parts = [
        f"# What was found that concerns {name}\n",
        *_paragraphs(_concerns(given, taken, plain, tenant)),
        *_list("Your text in answers", given, _given_rows(given), ("your request", "when (UTC)", "part", "characters")),
        *_list(
            "Answers to you with text of others",
            taken,
            _taken_rows(taken),
            ("your request", "when (UTC)", "from character", "characters"),
        ),
        *_secrets(plain),
        *_end(seen, plain, facts),
    ]
    return "\n".join(parts)


def _happened(seen: Exposure) -> Iterator[str]:
    if not seen.matches:
        yield (
            "No answer was found that carries text of another request, as far as was looked; what was not looked at "
            "is below."
        )
        return
    answers = _answers(seen.matches)
    across = _answers([match for match in seen.matches if match.across_tenants])
    yield (
        f"{counted(answers, 'answer')} to requests in these logs had stretches of text that belong to other "
        f"requests; in {across:,} of them the text was another customer's."
    )
    sources = {match.source.tenant for match in seen.matches if match.across_tenants and match.source.tenant}
    readers = {match.response.tenant for match in seen.matches if match.across_tenants and match.response.tenant}
    yield f"Text of {counted(len(sources), 'customer')} went to {counted(len(readers), 'customer')}."
    times = [match.response.at_ms for match in seen.matches if match.response.at_ms is not None]
    if times:
        yield f"The first such answer is of {shown_utc(min(times))}, the last of {shown_utc(max(times))}."


def _figures(seen: Exposure) -> Iterator[tuple[str, str]]:
    across = [match for match in seen.matches if match.across_tenants]
    rows = [
        ("requests that were read", seen.requests),
        ("of these, in the window asked about", seen.exposed),
        *((f"requests {said}", count) for said, count, _ in coverage_rows(seen)),
        ("lines or files that could not be read", seen.skipped),
        ("answers with text of another request", _answers(seen.matches)),
        ("of these, with text of another customer", _answers(across)),
        ("customers whose text it was", len({match.source.tenant for match in across} - {None})),
        ("customers who were given it", len({match.response.tenant for match in across} - {None})),
        ("stretches for which it is not certain whose they are", sum(match.candidates > 1 for match in seen.matches)),
        ("secrets in what was exposed", len(seen.credentials)),
        ("of these, in an answer to somebody else", sum(one.in_foreign_answer for one in seen.credentials)),
        ("signs of lost context, which are no proof", len(seen.signs) + seen.signs_left_out),
    ]
    yield from ((said, f"{count:,}") for said, count in rows)


def _looked_at(seen: Exposure) -> Iterator[str]:
    yield f"Asked about were {window_words(seen.window)}."
    if seen.hours:
        last = max(hour.from_ms for hour in seen.hours)
        yield f"The logs have requests from {shown_utc(seen.hours[0].from_ms)} to the hour of {shown_utc(last)}."
    yield f"All of {counted(seen.requests, 'request')} and their answers were compared as far as the logs kept them."


def _concerns(given: Sequence[Match], taken: Sequence[Match], seen: Exposure, tenant: str) -> Iterator[str]:
    if not (given or taken or seen.credentials):
        yield f"No finding names “{plain_name(tenant)}”. Whether the logs know that name was not looked at; compare it."
    if given:
        yield f"{counted(_answers(given), 'answer')} to somebody else, or to another request, had text of yours."
    else:
        yield "No answer was found that carries text of yours, as far as was looked."
    if taken:
        yield (
            f"{counted(_answers(taken), 'answer')} to you had text of others. We ask you to delete what you kept of "
            "them, and not to use it."
        )
    if seen.credentials:
        yield f"{counted(len(seen.credentials), 'secret')} of yours should be revoked and made anew; the list is below."


def _given_rows(given: Sequence[Match]) -> Iterator[tuple[str, str, str, str]]:
    for match in given[:ROWS_MAX]:
        part = "your prompt" if match.in_prompt else "the answer to you"
        sure = "" if match.candidates == 1 else f", or one of {match.candidates - 1:,} other requests"
        yield match.source.id, at_utc(match.source.at_ms), part + sure, f"{match.span_chars:,}"


def _taken_rows(taken: Sequence[Match]) -> Iterator[tuple[str, str, str, str]]:
    for match in taken[:ROWS_MAX]:
        yield match.response.id, at_utc(match.response.at_ms), f"{match.response_char:,}", f"{match.span_chars:,}"


def _list(title: str, matches: Sequence[Match], rows: Iterator[Sequence[str]], columns: Sequence[str]) -> Iterator[str]:
    if matches:
        yield f"## {title}\n"
        yield table(columns, rows)
        if len(matches) > ROWS_MAX:
            yield f"And {len(matches) - ROWS_MAX:,} more, which we send on request.\n"


def _secrets(seen: Exposure) -> Iterator[str]:
    if not seen.credentials:
        return
    yield "## Your secrets to revoke\n"
    columns = ("kind", "begins with", "first seen (UTC)", "last seen (UTC)", "shown to somebody else")
    shown = (
        (one.kind, one.redacted, at_utc(one.first_ms), at_utc(one.last_ms), _SHOWN[one.in_foreign_answer])
        for one in seen.credentials[:ROWS_MAX]
    )
    yield table(columns, shown)


def _end(whole: Exposure, seen: Exposure, facts: ScanFacts) -> Iterator[str]:
    """What every letter ends with: how far it reaches, what its writer fills in, how it can be checked."""
    yield "## What could not be seen\n"
    yield "\n".join(f"- {literal(line)}" for line in (*reach(seen), *INHERENT)) + "\n"
    yield "## To be filled in by who sends this\n"
    yield "\n".join(f"- {line}" for line in _FILL_IN) + "\n"
    yield "## How it can be checked\n"
    yield (
        f"Found by kvfence {literal(facts.run.version)} on {facts.run.at_utc.strftime('%Y-%m-%d %H:%M UTC')}. All that "
        f"was found has the SHA-256 {digest(whole)}; the same logs, version and fingerprint key give it again.\n"
    )


def _answers(matches: Sequence[Match]) -> int:
    return len({(match.response.id, match.response.where) for match in matches})


def _paragraphs(sentences: Iterator[str]) -> Iterator[str]:
    yield literal(" ".join(sentences)) + "\n"
