"""`wrap(client)`: an `openai` client whose `chat.completions.create` plants and checks markers in a share of calls.

Everything else of the client is the client's own, and so is a call that is not sampled: the same request, the same
answer object. `openai` is not imported; its synchronous and its asynchronous client are told apart by what they return.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Self, TypeVar, cast

from kvfence.errors import UsageError
from kvfence.probe.canaries.memory import MEMORY, Registry
from kvfence.probe.canaries.reading import Reading, read_whole
from kvfence.probe.canaries.watching import Call, CanaryReport, Watch

__all__ = ["CanaryReport", "counts", "wrap"]

Client = TypeVar("Client")
REFUSED = (400, 413, 422)
"""What a call that the marker made too long, or not acceptable, is answered with; it is then made without."""


def wrap(
    client: Client,
    *,
    share: float = 0.01,
    on_report: Callable[[CanaryReport], None] | None = None,
    owner: Callable[[Mapping[str, Any]], str] | None = None,
    registry: Registry = MEMORY,
) -> Client:
    """The client, with a canary in a share of its calls. The client that is given is not changed.

    Args:
        client: `openai.OpenAI` or `openai.AsyncOpenAI`, or one that is made like them.
        share: how many of the calls carry a marker, from 0 (none, only look) to 1.
        on_report: told of each sampled call, and of each other one whose answer is a leak. What it raises is counted.
        owner: whose call it is, from its arguments; a leak names it. Its number if not said.
        registry: who remembers markers.

    Raises:
        UsageError: there is no such share, or it is no such client.
    """
    if not 0 <= share <= 1:
        raise UsageError(f"a share of {share}: give one from 0 to 1, such as 0.01")
    if not hasattr(client, "chat"):
        raise UsageError(f"a {type(client).__name__} has no chat.completions: give a client of the openai package")
    return cast("Client", _Client(client, Watch(share=share, on_report=on_report, owner=owner, registry=registry)))


def counts(client: object) -> dict[str, int]:
    """What came of a wrapped client's calls (`Watch.counts`), and of those made from it by `with_options`.

    Raises:
        UsageError: it is not a wrapped client.
    """
    return dict(watch_of(client).counts)


def watch_of(client: object) -> Watch:
    """What watches a wrapped client. Raises `UsageError` for another one."""
    watch = getattr(client, "_kvfence_watch", None)
    if not isinstance(watch, Watch):
        raise UsageError("counts are of a client that probe.wrap returned")
    return watch


class _Around:
    """Stands for an object, and is taken for one of its kind."""

    def __init__(self, inner: Any, watch: Watch) -> None:
        self._kvfence_inner = inner
        self._kvfence_watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kvfence_inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)  # our own; what is the client's goes to it
        else:
            setattr(self._kvfence_inner, name, value)

    @property  # type: ignore[misc]  # isinstance asks for it
    def __class__(self) -> Any:
        return type(self._kvfence_inner)

    def __enter__(self) -> Self:
        self._kvfence_inner.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._kvfence_inner.__exit__(*raised)

    async def __aenter__(self) -> Self:
        await self._kvfence_inner.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._kvfence_inner.__aexit__(*raised)


class _Client(_Around):
    @property
    def chat(self) -> Any:
        return _Chat(self._kvfence_inner.chat, self._kvfence_watch)

    def with_options(self, *args: Any, **kwargs: Any) -> Any:
        return _Client(self._kvfence_inner.with_options(*args, **kwargs), self._kvfence_watch)

    copy = with_options


class _Chat(_Around):
    @property
    def completions(self) -> Any:
        return _Completions(self._kvfence_inner.completions, self._kvfence_watch)


class _Completions(_Around):
    def create(self, **arguments: Any) -> Any:
        watch, ask = self._kvfence_watch, self._kvfence_inner.create
        call = watch.begin(arguments)
        try:
            response = ask(**call.sent)
        except Exception as error:
            if not _because_of_marker(error, call):
                raise
            call = watch.without(call)
            response = ask(**call.sent)
        if inspect.isawaitable(response):
            return _later(response, call, watch, ask)
        return _read(response, call, watch)


async def _later(response: Any, call: Call, watch: Watch, ask: Callable[..., Any]) -> Any:
    try:
        return _read(await response, call, watch)
    except Exception as error:
        if not _because_of_marker(error, call):
            raise
    call = watch.without(call)
    return _read(await ask(**call.sent), call, watch)


def _because_of_marker(error: Exception, call: Call) -> bool:
    """Whether the call may go well without its marker."""
    return bool(call.marker) and getattr(error, "status_code", None) in REFUSED


def _read(response: Any, call: Call, watch: Watch) -> Any:
    if call.sent.get("stream") is True:
        return _Stream(response, watch, Reading(call, watch))
    read_whole(response, call, watch)
    return response


class _Stream(_Around):
    """A stream with its carriers taken out; of a call without a marker, the client's own chunks."""

    def __init__(self, inner: Any, watch: Watch, reading: Reading) -> None:
        super().__init__(inner, watch)
        self._reading = reading
        self._ready: deque[Any] = deque()
        self._error: BaseException | None = None

    def __iter__(self) -> Iterator[Any]:
        return cast("Iterator[Any]", self)

    def __next__(self) -> Any:
        while not self._ready:
            self._raise_what_is_kept()
            try:
                self._ready.extend(self._reading.chunk(next(self._kvfence_inner)))
            except Exception as error:  # noqa: BLE001 — raised once what was held back is handed on
                self._keep(error)
        return self._ready.popleft()

    def __aiter__(self) -> AsyncIterator[Any]:
        return cast("AsyncIterator[Any]", self)

    async def __anext__(self) -> Any:
        while not self._ready:
            self._raise_what_is_kept()
            try:
                self._ready.extend(self._reading.chunk(await anext(self._kvfence_inner)))
            except Exception as error:  # noqa: BLE001 — the same
                self._keep(error)
        return self._ready.popleft()

    def _keep(self, error: Exception) -> None:
        self._error = error
        self._ready.extend(self._reading.end(stopped=not isinstance(error, StopIteration | StopAsyncIteration)))

    def _raise_what_is_kept(self) -> None:
        if self._error is not None:
            raise self._error

    def __exit__(self, *raised: object) -> None:
        self._reading.end(stopped=True)
        super().__exit__(*raised)

    async def __aexit__(self, *raised: object) -> None:
        self._reading.end(stopped=True)
        await super().__aexit__(*raised)

    def close(self) -> Any:
        self._reading.end(stopped=True)
        return self._kvfence_inner.close()
