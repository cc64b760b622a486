"""One running server, from its address to nodes with facts. The only place that puts asking and readers together."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import replace

from kvfence.errors import TargetError
from kvfence.facts.endpoints import cell, dynamo, llama_cpp, sglang, tensorrt_llm, tgi, vllm
from kvfence.facts.endpoints.base import Base, parse_base
from kvfence.facts.endpoints.fetch import Access, NoPage, Page, ask
from kvfence.facts.endpoints.no_node import why_no_node
from kvfence.facts.endpoints.pages import Pages
from kvfence.facts.endpoints.router import PATHS as ROUTER_PATHS
from kvfence.facts.endpoints.router import Worker, Workers, workers
from kvfence.facts.fact import Fact, NodeFacts
from kvfence.facts.reading import Reading

_READERS: tuple[Callable[[Pages], tuple[NodeFacts, ...]], ...] = (
    cell.read,
    sglang.read,
    sglang.read_route,
    llama_cpp.read,
    tgi.read,
    tensorrt_llm.read,
    dynamo.read,
    vllm.read,
)
"""The more particular first: several engines answer `/v1/models`, and a front end passes on vLLM's metrics."""
_ENGINES = (cell, sglang, llama_cpp, tgi, tensorrt_llm, dynamo, vllm)
PATHS = tuple(dict.fromkeys(path for engine in _ENGINES for path in engine.PATHS))
_NOT_FOUND = (404, 405)


def read_endpoint(target: str, access: Access) -> Reading:
    """The nodes behind an address: the server itself, or the workers that a router lists.

    Raises:
        UsageError: it is no HTTP address.
        TargetError: nothing answers there, or it wants a key.
    """
    return asyncio.run(_read(parse_base(target), access))


async def _read(base: Base, access: Access) -> Reading:
    import httpx  # noqa: PLC0415 — audits of logs do not pay for loading it

    try:
        async with asyncio.timeout(access.target_s):
            trust = httpx.create_ssl_context()  # once: it reads every authority there is
            pages = await _pages(base, access, trust)
            _require_answer(pages)
            listed = workers(pages)
            if listed is not None:
                return await _routed(listed, access, trust, pages.advertised())
    except TimeoutError as error:
        raise TargetError(f"{base.shown}: it was not read within {access.target_s:g} s; try it again") from error
    nodes = nodes_of(pages)
    return Reading(nodes, () if nodes else (why_no_node(pages),), _unanswered(pages))


async def _pages(base: Base, access: Access, trust: ssl.SSLContext) -> Pages:
    """All pages; the old name of SGLang's settings only where the new one is not there, since it logs a warning.

    Each server has a client of its own: connections are counted by client, and one that hangs would keep them from all.
    """
    import httpx  # noqa: PLC0415 — audits of logs do not pay for loading it

    async with httpx.AsyncClient(timeout=None, verify=trust) as client:  # noqa: S113 — `ask` bounds the whole exchange
        answers = await ask(client, base, (*PATHS, *ROUTER_PATHS), access)
        now, old = sglang.SERVER_INFO
        first = answers[now]
        if isinstance(first, Page) and first.status in _NOT_FOUND:
            answers |= await ask(client, base, (old,), access)
    return Pages(base, answers)


def _require_answer(pages: Pages) -> None:
    answers = list(pages.answers.values())
    read = [answer for answer in answers if isinstance(answer, Page)]
    if not read:
        first = next(answer for answer in answers if isinstance(answer, NoPage))
        raise TargetError(f"{pages.base.shown}: {first.why}")
    if any(page.wants_key for page in read) and not any(pages.answered(path) for path in pages.answers):
        status = next(page.status for page in read if page.wants_key)
        raise TargetError(f"{pages.base.shown}: it wants a key (status {status}); name its variable with --api-key-env")


def nodes_of(pages: Pages) -> tuple[NodeFacts, ...]:
    """What the first reader that recognises the server makes of its pages; none if nobody does."""
    return next((nodes for read in _READERS if (nodes := read(pages))), ())


def _unanswered(pages: Pages) -> tuple[str, ...]:
    """Which pages gave nothing although the server answers others; told once for each reason."""
    by_reason: dict[str, list[str]] = {}
    for path, answer in pages.answers.items():
        if isinstance(answer, NoPage):
            by_reason.setdefault(answer.why, []).append(path.partition("?")[0])
    return tuple(f"no answer from {', '.join(paths)}: {why}" for why, paths in by_reason.items())


async def _routed(listed: Workers, access: Access, trust: ssl.SSLContext, promised: Fact | None) -> Reading:
    """What a router's workers say, asked at once and without the key, which is for the server that the user named."""
    keyless = replace(access, api_key=None)
    readings = await asyncio.gather(*(_worker(worker, keyless, trust) for worker in listed.asked))
    notes = [f"a router; its workers were asked: {', '.join(worker.base.shown for worker in listed.asked) or 'none'}"]
    return Reading(
        nodes=tuple(_behind(promised, node) for reading in readings for node in reading.nodes),
        gaps=(*listed.left_out, *(gap for reading in readings for gap in reading.gaps)),
        notes=(*notes, *(note for reading in readings for note in reading.notes)),
    )


async def _worker(worker: Worker, access: Access, trust: ssl.SSLContext) -> Reading:
    shown = worker.base.shown
    pages = await _pages(worker.base, access, trust)
    try:
        _require_answer(pages)
    except TargetError as error:
        return Reading((), (f"its worker {error}",))
    nodes = nodes_of(pages)
    if nodes:
        silent = tuple(f"its worker {shown}: {note}" for note in _unanswered(pages))
        return Reading(tuple(_with_role(node, worker) for node in nodes), (), silent)
    if workers(pages) is not None:
        return Reading((), (f"its worker {shown} is a router as well; name its workers as targets",))
    return Reading((), (f"its worker {shown}: {why_no_node(pages)}",))


def _behind(promised: Fact | None, node: NodeFacts) -> NodeFacts:
    """A worker, with what the router before it promises to clients."""
    return replace(node, facts={**node.facts, "front_length": promised}) if promised else node


def _with_role(node: NodeFacts, worker: Worker) -> NodeFacts:
    """The router's word for the role, where the worker has none of its own."""
    if worker.role is None or "role" in node.facts:
        return node
    return replace(node, facts={**node.facts, "role": worker.role})
