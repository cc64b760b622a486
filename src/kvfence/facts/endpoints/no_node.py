"""Why a server that answers is no node: an engine that tells nothing of its pool, or no engine at all.

An engine is taken for one that tells too little only where a page says something that is an engine's to say; a web
page, another program's JSON and errors alone are not that, whatever their status. No page is read for facts here.
"""

from __future__ import annotations

from http import HTTPStatus

from kvfence.facts.endpoints.fetch import Page
from kvfence.facts.endpoints.pages import Pages

_TELLS_NOTHING = (
    "it answers, but says nothing about its pool; switch its metrics on (SGLang: --enable-metrics) or reach it "
    "without the proxy, or give its start-up log instead"
)
_HTML = (b"<!doctype html", b"<html")
_STATUSES_MAX = 4


def why_no_node(pages: Pages) -> str:
    """One sentence for a server that no reader recognised, and what to do."""
    if _speaks_as_an_engine(pages):
        return _TELLS_NOTHING
    return (
        f"this is no inference engine's endpoint: it answers {_what(pages)}, and nothing that an engine or its router "
        "says; check the host and the port, or reach the engine without the proxy"
    )


def _speaks_as_an_engine(pages: Pages) -> bool:
    listed, model = pages.json("/v1/models"), pages.json("/model_info")
    return (listed is not None and isinstance(listed.fields.get("data"), list)) or (
        model is not None and model.has("model_path")
    )


def _what(pages: Pages) -> str:
    answers = [answer for answer in pages.answers.values() if isinstance(answer, Page)]
    read = [answer for answer in answers if answer.status == HTTPStatus.OK]
    if any(answer.body.lstrip()[:14].lower().startswith(_HTML) for answer in read):
        return "with web pages (HTML)"
    if read:
        return "with pages of another kind"
    statuses = sorted({answer.status for answer in answers})
    more = ", …" if len(statuses) > _STATUSES_MAX else ""
    return f"with status {', '.join(map(str, statuses[:_STATUSES_MAX]))}{more} only"
