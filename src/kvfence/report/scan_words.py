"""A scan in words, for every format that a person reads: the three questions, and how far the answers reach."""

from __future__ import annotations

from collections.abc import Iterator

from kvfence.findings.exposure import Exposure
from kvfence.findings.verdict import Verdict
from kvfence.findings.window import Window
from kvfence.report.plain import plain_name
from kvfence.report.times import shown_utc

INHERENT = (
    "Only these logs were read: a request that is in none of them is in no answer here.",
    "Text that an answer gives in other words, translated or garbled does not stand in it, and is not found as such.",
    "A secret is found by its form: one that looks like any other word is not.",
)
"""What no scan of logs can say, however much of them was read."""

LOOKED_FOR = "64 bytes and more of others' text in one piece, for secrets, and for three signs of lost context"
"""Nobody shall read more into a clean scan: what is reworded, and an answer that is off its topic, it cannot see."""


def answers(seen: Exposure) -> Iterator[tuple[str, str]]:
    """Each of the three questions with its answer."""
    yield "Were we exposed?", _exposed(seen)
    yield "Whose text?", _whose(seen)
    yield "What must be rotated?", _rotate(seen)


def reach(seen: Exposure) -> Iterator[str]:
    """What the answers do not reach to, a sentence each; none where all was looked at."""
    coverage = seen.coverage
    if seen.not_looked_for:
        yield f"Not looked for: {', '.join(seen.not_looked_for)}."
    for count, said in (
        (coverage.cut, "cut by the store"),
        (coverage.encrypted, "encrypted"),
        (coverage.omitted, "without a text in the log"),
    ):
        if count:
            yield f"{count:,} of {counted(seen.requests, 'request')} {_are(count)} {said}, and nothing is said of them."
    if seen.skipped:
        yield f"{counted(seen.skipped, 'line or file', 'lines or files')} could not be read."


def coverage_rows(seen: Exposure) -> Iterator[tuple[str, int, str]]:
    """Requests by how much of both their texts could be looked at, with their share of all."""
    for said, count in (
        ("looked at whole", seen.coverage.whole),
        ("cut by the store", seen.coverage.cut),
        ("encrypted", seen.coverage.encrypted),
        ("without a text in the log", seen.coverage.omitted),
    ):
        yield said, count, share(count, seen.requests)


def share(count: int, of: int) -> str:
    """`97 %`: 100 is all of them, and 0 is none."""
    if not of:
        return ""
    percent = round(100 * count / of)
    return f"{min(99, max(1, percent)) if 0 < count < of else percent} %"


def verdict_line(seen: Exposure) -> str:
    """The verdict, and no more than was looked at."""
    match seen.verdict:
        case Verdict.FOUND:
            return "Found: what stands below is in these logs."
        case Verdict.CLEAN:
            whole = f"{counted(seen.requests, 'request')} and their answers were looked at whole"
            return f"Clean: {whole}, for {LOOKED_FOR}."
        case Verdict.UNKNOWN:
            return f"Inconclusive: nothing was found, {_why_unknown(seen)}."


def not_read_lines(seen: Exposure, most: int) -> Iterator[str]:
    """What could not be read, a line each; of more than `most` how many more."""
    for one in seen.not_read[:most]:
        where = plain_name(one.file) + (f":{one.line}" if one.line is not None else "")
        yield f"{where}: {one.why}"
    if len(seen.not_read) > most:
        yield f"and {len(seen.not_read) - most:,} more; --format json has all of them"


def window_words(window: Window) -> str:
    """What was asked about, in words; `all requests` where nothing was said."""
    parts = []
    if window.longer_than is not None:
        parts.append(f"with prompts of over {window.longer_than:,} tokens")
    if window.from_ms is not None:
        parts.append(f"from {shown_utc(window.from_ms)} on")
    if window.to_ms is not None:
        parts.append(f"before {shown_utc(window.to_ms)}")
    if window.model is not None:
        parts.append(f"to models with “{plain_name(window.model)}” in their name")
    return f"requests {', '.join(parts)}" if parts else "all requests"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 request`, `2,000 requests`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _exposed(seen: Exposure) -> str:
    return " ".join(_of_exposure(seen))


def _of_exposure(seen: Exposure) -> Iterator[str]:
    yield f"{seen.exposed:,} of {counted(seen.requests, 'request')} {_are(seen.exposed)} in the window asked about."
    if seen.matches:
        answered = len({(match.response.id, match.response.where) for match in seen.matches})
        yield f"{counted(answered, 'answer carries', 'answers carry')} text of another request."
    elif seen.requests and "foreign text" not in seen.not_looked_for:
        yield "No answer was seen to carry text of another request."
    if seen.signs:
        showing = len({(sign.request.id, sign.request.where) for sign in seen.signs})
        yield f"{counted(showing, 'request shows', 'requests show')} signs of lost context, which is no proof."
    if seen.signs_left_out:
        yield f"{counted(seen.signs_left_out, 'more sign')} {_are(seen.signs_left_out)} not listed."


def _whose(seen: Exposure) -> str:
    if not seen.matches:
        return "Not known." if "foreign text" in seen.not_looked_for else "Nobody's, as far as was looked."
    tenants = {match.source.tenant for match in seen.matches if match.source.tenant}
    unsure = sum(match.candidates > 1 for match in seen.matches)
    said = f"Of {counted(len({match.source.id for match in seen.matches}), 'request')}"
    said += f" by {counted(len(tenants), 'tenant')}." if tenants else "; the logs name no tenant."
    return said + (f" For {counted(unsure, 'stretch', 'stretches')} it is one of several." if unsure else "")


def _rotate(seen: Exposure) -> str:
    if not seen.credentials:
        return "Not known." if "secrets" in seen.not_looked_for else "Nothing that was recognised."
    kinds = len({one.kind for one in seen.credentials})
    return f"{counted(len(seen.credentials), 'secret')} of {counted(kinds, 'kind')}; the list is below."


def _why_unknown(seen: Exposure) -> str:
    if not seen.requests:
        return "and nothing could be read"
    unseen = seen.not_read or seen.not_looked_for or seen.coverage.whole < seen.requests
    said = ["but there are signs of lost context"] if seen.signs else []
    return " ".join(said + ["and not all of it could be looked at"] * bool(unseen))


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
