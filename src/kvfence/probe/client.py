"""Talking to the endpoint over HTTP, within bounds of time and size. What it says, `replies` translates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import httpx

from kvfence.errors import TargetError, UsageError, why_unreached
from kvfence.probe.calibration import is_plausible
from kvfence.probe.dialects.dialect import Ask, Body, Fields
from kvfence.probe.hanging_up import send_and_hang_up
from kvfence.probe.keys import Keys
from kvfence.probe.limits import UNLIMITED, Cost, Limits, OverLimitError, Pace, Purse, Share
from kvfence.probe.patience import PATIENCE, Patience, retry_after_s
from kvfence.probe.record import Delivery, HangUp
from kvfence.probe.replies import Failure, ModelCard, Reply, Response, reply_of_failure
from kvfence.probe.streams import StreamFields
from kvfence.probe.target import Target, Tenant

CONNECT_S = 10.0
RESPONSE_BYTES_MAX = 64 * 2**20
"""The largest that is expected is `/tokenize` of a million tokens, which some endpoints answer with the tokens
themselves: about 20 MB as pretty-printed JSON."""
STRICT = (400, 422)
NO_SUCH_PATH = (404, 405, 501)
REDIRECTS_MAX = 5
NAME_A_KEY = "name its variable with --api-key-env, or as api_key_env in a file of providers"


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
        share: Share | None = None,
    ) -> None:
        self.purse = Purse(limits, share)
        self._pace = Pace(limits.requests_per_s, clock)
        self._patience = patience
        self._keys = Keys()
        self._target = target
        self._clock = clock
        timeout = httpx.Timeout(target.timeout_s, connect=min(CONNECT_S, target.timeout_s))
        self._http = httpx.AsyncClient(timeout=timeout)
        self._forms = tuple(
            tuple(name for name in fields if name not in target.without) for fields in target.dialect.tenant_fields
        )
        self._fields_index = 0
        self._answered = False
        self._streams = StreamFields(target.dialect.stream_usage)
        self._counters = target.dialect.count_forms(target.base_url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @property
    def tenant_fields(self) -> Fields:
        """The fields of a request that the endpoint lets differ between tenants."""
        return self._forms[self._fields_index]

    def settle(self, fields: Fields) -> None:
        """Ask with these fields from now on: an earlier answer showed that the endpoint accepts them."""
        if fields in self._forms:
            self._fields_index, self._answered = self._forms.index(fields), True

    async def models(self, tenant: Tenant) -> list[ModelCard]:
        """The models that the endpoint lists. Raises `TargetError` when it is no such endpoint."""
        path = self._target.dialect.models_path(self._target.model)
        shown = f"{self._target.shown}/{path}"
        response = await self._send("GET", self._target.url(path), tenant)
        if isinstance(response, Failure):
            raise TargetError(f"{shown}: {response.why}")
        if response.status in (401, 403):
            raise TargetError(f"{shown} wants a key (status {response.status}); {NAME_A_KEY}")
        cards = self._target.dialect.model_cards(response, self._target.model)
        if cards is None:
            raise TargetError(
                f"{shown} is not {self._target.dialect.described}: status {response.status}, "
                f"{response.described()} instead of a list of models. The base usually ends in /v1"
            )
        return cards

    async def count(self, model: str, prompt: str, tenant: Tenant) -> int | None:
        """Tokens of a prompt as the endpoint counts them, or None where it does not."""
        dialect = self._target.dialect
        for counter in self._counters:
            if counter not in self._counters:
                continue  # the other form found that there is nothing at this address
            response = await self._send("POST", counter.url, tenant, dialect.count_request(counter.form, model, prompt))
            if isinstance(response, Failure):
                return None  # the prompt itself will show what is wrong
            counted = dialect.token_count(response)
            if counted is not None:
                self._counters = (counter,)
                return counted
            if response.status in NO_SUCH_PATH:
                self._counters = tuple(other for other in self._counters if other.url != counter.url)
        return None

    async def ask(
        self, model: str, prompt: str, tenant: Tenant, cost: Cost, delivery: Delivery = Delivery.WHOLE
    ) -> Asked:
        """Send a prompt, for which `cost` was set aside in the purse.

        Never raises for what the endpoint does: that is what is being measured.
        """
        asks = Ask(model=model, prompt=prompt, answer_tokens_max=cost.answer_tokens)
        spent: list[Cost] = []
        while True:
            streaming = self._streams.fields if delivery is Delivery.STREAMED else {}
            response = await self._ask_once(asks, tenant, streaming)
            reply = self._read_reply(response)
            spent.append(self._settled(cost, response, reply, len(prompt)))
            wait_s = self._wait_s(response, reply, len(spent))
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
        asks = Ask(model=model, prompt=prompt, answer_tokens_max=cost.answer_tokens)
        streaming = self._streams.fields if when.pieces else {}
        return Asked(self._read_reply(await self._ask_once(asks, tenant, streaming, when)), tries=1, spent=cost)

    async def _ask_once(
        self, asks: Ask, tenant: Tenant, streaming: Body, hang_up: HangUp | None = None
    ) -> Response | Failure:
        dialect = self._target.dialect
        path, body = dialect.request(asks)
        kept = {name: value for name, value in body.items() if name not in self._target.without}
        fields = dialect.telling_apart(self.tenant_fields, tenant.salt)
        whole = {**kept, **streaming, **fields, **tenant.body}
        return await self._send("POST", self._target.url(path), tenant, whole, hang_up)

    def _read_reply(self, response: Response | Failure) -> Reply:
        return reply_of_failure(response) if isinstance(response, Failure) else self._target.dialect.reply(response)

    def _wait_s(self, response: Response | Failure, reply: Reply, tries: int) -> float | None:
        """How long to wait before it is sent again; None: that was all."""
        if isinstance(response, Failure):
            return None
        if not self._answered and response.status in STRICT and self.tenant_fields:
            self._fields_index += 1
            return 0.0
        return self._patience.wait_s(reply.status or response.status, response.retry_after_s, tries)

    def _settled(self, cost: Cost, response: Response | Failure, reply: Reply, chars: int) -> Cost:
        """What one try took; the rest goes back into the purse. An error beside status 200 may have been paid for."""
        spent = cost
        if isinstance(response, Response) and response.status in range(400, 500):
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
        for secret in tenant.secrets:
            self._keys.add(secret)
        content = bytearray()
        await self._pace.wait()
        try:
            request = self._http.build_request(method, url, json=body, headers=self._headers(tenant))
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

    def _headers(self, tenant: Tenant) -> dict[str, str]:
        return {**self._target.dialect.headers(tenant.api_key), **tenant.headers}

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


def _is_same_place(one: httpx.URL, other: httpx.URL) -> bool:
    """The same server; also where it asks for TLS instead of plain HTTP."""
    upgraded = (one.scheme, other.scheme, one.port, other.port) == ("http", "https", None, None)
    return one.host == other.host and (upgraded or (one.scheme, one.port) == (other.scheme, other.port))


def _too_late(target: Target) -> str:
    return f"no answer within {target.timeout_s:g} s; a longer wait can be set with --timeout"


def _why(error: Exception, target: Target) -> str:
    match error:
        case httpx.ConnectTimeout():
            return f"no connection within {min(CONNECT_S, target.timeout_s):g} s"
        case httpx.TimeoutException():
            return _too_late(target)
        case httpx.ConnectError():
            return why_unreached(error)
        case httpx.RemoteProtocolError() | httpx.ReadError():
            return "the connection was closed in the middle of an answer"
        case httpx.InvalidURL() | UnicodeError():
            return "its host is not a name that can be looked up; is the address right?"
        case _:
            return f"{type(error).__name__}: {error}"
