"""Talking to the endpoint over HTTP, within bounds of time and size. What it says, `replies` translates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import httpx

from kvfence.errors import TargetError, UsageError
from kvfence.probe.calibration import is_plausible
from kvfence.probe.hanging_up import send_and_hang_up
from kvfence.probe.keys import Keys
from kvfence.probe.limits import UNLIMITED, Cost, Limits, OverLimitError, Pace, Purse
from kvfence.probe.patience import PATIENCE, Patience, retry_after_s
from kvfence.probe.prompts import STOP
from kvfence.probe.record import Delivery, HangUp
from kvfence.probe.replies import Failure, ModelCard, Reply, Response, model_cards, reply_of, token_count
from kvfence.probe.streams import StreamFields
from kvfence.probe.target import Target, Tenant

CONNECT_S = 10.0
RESPONSE_BYTES_MAX = 64 * 2**20
"""The largest that is expected is `/tokenize` of a million tokens, which some endpoints answer with the tokens
themselves: about 20 MB as pretty-printed JSON."""
TENANT_FIELDS = (("user", "cache_salt"), ("user",), ())
"""What tenants are told apart by, besides their keys; a strict endpoint refuses fields that it does not know."""
STRICT = (400, 422)
NO_SUCH_PATH = (404, 405, 501)
REDIRECTS_MAX = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one prompt, and what it took in all tries."""

    reply: Reply
    tries: int
    spent: Cost


class EndpointClient:
    """One connection pool to one endpoint; an asynchronous context manager."""

    def __init__(
        self,
        target: Target,
        clock: Callable[[], float] = time.monotonic,
        *,
        limits: Limits = UNLIMITED,
        patience: Patience = PATIENCE,
    ) -> None:
        self.purse = Purse(limits)
        self._pace = Pace(limits.requests_per_s, clock)
        self._patience = patience
        self._keys = Keys()
        self._target = target
        self._clock = clock
        timeout = httpx.Timeout(target.timeout_s, connect=min(CONNECT_S, target.timeout_s))
        self._http = httpx.AsyncClient(timeout=timeout)
        self._fields_index = 0
        self._answered = False
        self._streams = StreamFields()
        self._counters = _counters(target)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @property
    def tenant_fields(self) -> tuple[str, ...]:
        """The fields of a request that the endpoint lets differ between tenants."""
        return TENANT_FIELDS[self._fields_index]

    def settle(self, fields: tuple[str, ...]) -> None:
        """Ask with these fields from now on: an earlier answer showed that the endpoint accepts them."""
        self._fields_index, self._answered = TENANT_FIELDS.index(fields), True

    async def models(self, tenant: Tenant) -> list[ModelCard]:
        """The models that the endpoint lists. Raises `TargetError` when it is no such endpoint."""
        shown = f"{self._target.shown}/models"
        response = await self._send("GET", self._target.url("models"), tenant)
        if isinstance(response, Failure):
            raise TargetError(f"{shown}: {response.why}")
        if response.status in (401, 403):
            raise TargetError(f"{shown} wants a key (status {response.status}); name its variable with --api-key-env")
        cards = model_cards(response)
        if cards is None:
            raise TargetError(
                f"{shown} is not an OpenAI-compatible endpoint: status {response.status}, "
                f"{response.described()} instead of a list of models. The base usually ends in /v1"
            )
        return cards

    async def count(self, model: str, prompt: str, tenant: Tenant) -> int | None:
        """Tokens of a prompt as the endpoint counts them, or None where it does not."""
        for url, form in self._counters:
            if (url, form) not in self._counters:
                continue  # the other form found that there is nothing at this address
            response = await self._send("POST", url, tenant, {"model": model, **_counted(form, prompt)})
            if isinstance(response, Failure):
                return None  # the prompt itself will show what is wrong
            counted = token_count(response)
            if counted is not None:
                self._counters = ((url, form),)
                return counted
            if response.status in NO_SUCH_PATH:
                self._counters = tuple(counter for counter in self._counters if counter[0] != url)
        return None

    async def ask(
        self, model: str, prompt: str, tenant: Tenant, cost: Cost, delivery: Delivery = Delivery.WHOLE
    ) -> Asked:
        """Send a prompt, for which `cost` was set aside in the purse.

        Never raises for what the endpoint does: that is what is being measured.
        """
        body = self._body(model, prompt, cost)
        spent: list[Cost] = []
        while True:
            streaming = self._streams.fields if delivery is Delivery.STREAMED else {}
            response = await self._ask_once({**body, **streaming}, tenant)
            reply = reply_of(response)
            spent.append(self._settled(cost, reply, len(prompt)))
            wait_s = self._wait_s(response, len(spent))
            if streaming and isinstance(response, Response) and self._streams.learn(refused=response.status in STRICT):
                wait_s = 0.0
            if wait_s is None or not self._can_set_aside(cost):
                break
            await asyncio.sleep(wait_s)
        self._answered = True  # from now on a refusal is about the prompt, not about the fields
        total = Cost(sum(one.prompt_tokens for one in spent), sum(one.answer_tokens for one in spent))
        return Asked(reply, tries=len(spent), spent=total)

    async def ask_and_hang_up(self, model: str, prompt: str, tenant: Tenant, cost: Cost, when: HangUp) -> Asked:
        """Send a prompt, and close the connection on purpose. It counts as spent in full."""
        body = self._body(model, prompt, cost) | (self._streams.fields if when.pieces else {})
        return Asked(reply_of(await self._ask_once(body, tenant, when)), tries=1, spent=cost)

    def _body(self, model: str, prompt: str, cost: Cost) -> dict[str, object]:
        said = {"prompt": prompt} if self._target.completions else {"messages": _messages(prompt)}
        return {"model": model, "max_tokens": cost.answer_tokens, "temperature": 0, "stop": [STOP], **said}

    async def _ask_once(
        self, body: Mapping[str, object], tenant: Tenant, hang_up: HangUp | None = None
    ) -> Response | Failure:
        path = "completions" if self._target.completions else "chat/completions"
        fields = dict.fromkeys(self.tenant_fields, tenant.salt)
        return await self._send("POST", self._target.url(path), tenant, {**body, **fields}, hang_up)

    def _wait_s(self, response: Response | Failure, tries: int) -> float | None:
        """How long to wait before it is sent again; None: that was all."""
        if isinstance(response, Failure):
            return None
        if not self._answered and response.status in STRICT and self.tenant_fields:
            self._fields_index += 1
            return 0.0
        return self._patience.wait_s(response.status, response.retry_after_s, tries)

    def _settled(self, cost: Cost, reply: Reply, chars: int) -> Cost:
        """What one try took; the rest goes back into the purse."""
        spent = cost
        if reply.status is not None and reply.status in range(400, 500):
            spent = Cost(0, 0)
        elif reply.status is not None and reply.status in range(200, 300):
            usage, answer = reply.prompt_tokens, reply.answer_tokens
            spent = Cost(
                cost.prompt_tokens if usage is None or not is_plausible(chars, usage) else usage,
                cost.answer_tokens if answer is None or not 0 <= answer <= cost.answer_tokens else answer,
            )
        self.purse.give_back(cost.prompt_tokens - spent.prompt_tokens, cost.answer_tokens - spent.answer_tokens)
        return spent

    def _can_set_aside(self, cost: Cost) -> bool:
        try:
            self.purse.set_aside(cost)
        except OverLimitError:
            return False
        return True

    async def _send(
        self,
        method: str,
        url: str,
        tenant: Tenant,
        body: Mapping[str, object] | None = None,
        hang_up: HangUp | None = None,
    ) -> Response | Failure:
        """One request, read whole within the time and size allowed, and without the keys that the answer repeats."""
        self._keys.add(tenant.api_key)
        content = bytearray()
        await self._pace.wait()
        try:
            request = self._http.build_request(method, url, json=body, headers=_headers(tenant))
            async with asyncio.timeout(self._target.timeout_s):
                got: Response | Failure
                if hang_up is None:
                    got = await self._read(request, content)
                else:
                    got = await send_and_hang_up(self._http, request, hang_up, content)
        except TimeoutError:
            got = Failure(_too_late(self._target))
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:  # the last: a host name that cannot be one
            got = Failure(_why(error, self._target))
        if isinstance(got, Failure):
            return replace(got, content=self._keys.without(bytes(content)))
        kind = self._keys.without(got.kind.encode()).decode(errors="replace")
        return replace(got, kind=kind, content=self._keys.without(bytes(content)))

    async def _read(self, request: httpx.Request, content: bytearray) -> Response | Failure:
        """The answer's head; what comes of its content is left in `content`, also when it ends in an error."""
        until = self._clock() + self._target.timeout_s
        for _ in range(REDIRECTS_MAX):
            response = await self._http.send(request, stream=True)
            try:
                if response.next_request is None:
                    async for piece in response.aiter_bytes():
                        content += piece
                        if self._clock() > until:
                            return Failure(_too_late(self._target))
                        if len(content) > RESPONSE_BYTES_MAX:
                            return Failure(f"an answer of more than {RESPONSE_BYTES_MAX // 2**20} MiB; it was given up")
                    kind = response.headers.get("content-type", "no content type").split(";")[0]
                    return Response(response.status_code, kind, b"", retry_after_s(response.headers))
                if not _is_same_place(request.url, response.next_request.url):
                    return Failure(
                        f"it redirects to another server ({response.next_request.url.host}), to which neither key nor "
                        "prompt was sent; give that address if it is the right one"
                    )
                request = response.next_request
            finally:
                await response.aclose()
        return Failure(f"more than {REDIRECTS_MAX} redirects")


def chosen_model(cards: list[ModelCard], wanted: str | None, target: Target) -> ModelCard:
    """The model to probe. Raises `UsageError` naming those that there are."""
    if not cards and not wanted:
        raise TargetError(f"{target.shown}/models lists no model; name one with --model")
    if wanted is None:
        return cards[0]
    for card in cards:
        if card.name == wanted:
            return card
    names = ", ".join(card.name for card in cards[:8]) or "none"
    raise UsageError(f"the endpoint has no model '{wanted}'; it lists: {names}")


def _counters(target: Target) -> tuple[tuple[str, str], ...]:
    """Where tokens may be counted and in which form, the best first: vLLM's counts a chat with its template.

    `prompt` is SGLang's and vLLM's, `content` is llama.cpp's, which answers the others with no tokens at all.
    """
    forms = ("prompt", "content") if target.completions else ("messages", "prompt", "content")
    urls = dict.fromkeys((f"{target.root}/tokenize", f"{target.base_url}/tokenize"))
    return tuple((url, form) for url in urls for form in forms)


def _counted(form: str, prompt: str) -> dict[str, object]:
    return {form: _messages(prompt) if form == "messages" else prompt}


def _messages(prompt: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}]


def _is_same_place(one: httpx.URL, other: httpx.URL) -> bool:
    """The same server; also where it asks for TLS instead of plain HTTP."""
    upgraded = (one.scheme, other.scheme, one.port, other.port) == ("http", "https", None, None)
    return one.host == other.host and (upgraded or (one.scheme, one.port) == (other.scheme, other.port))


def _headers(tenant: Tenant) -> dict[str, str]:
    return {"authorization": f"Bearer {tenant.api_key}"} if tenant.api_key else {}


def _too_late(target: Target) -> str:
    return f"no answer within {target.timeout_s:g} s; a longer wait can be set with --timeout"


def _why(error: Exception, target: Target) -> str:
    match error:
        case httpx.ConnectTimeout():
            return f"no connection within {min(CONNECT_S, target.timeout_s):g} s"
        case httpx.TimeoutException():
            return _too_late(target)
        case httpx.ConnectError():
            return "the connection was refused or the name is unknown; is the server up, and the address right?"
        case httpx.RemoteProtocolError() | httpx.ReadError():
            return "the connection was closed in the middle of an answer"
        case httpx.InvalidURL() | UnicodeError():
            return "its host is not a name that can be looked up; is the address right?"
        case _:
            return f"{type(error).__name__}: {error}"
