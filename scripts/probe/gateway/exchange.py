"""One call passed on: the request to the provider, its answer back as it comes."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime

import aiohttp
from aiohttp import web

from probe.gateway.meter import Meter
from probe.gateway.report import GatewayLine
from probe.gateway.routes import Route, Upstream, error_body
from probe.gateway.screen import Screened
from probe.models.secrets import one_line, scrub
from probe.records import Usage

_TO_PROVIDER = ("accept", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta")
_TO_CLIENT = (
    *("content-type", "retry-after", "retry-after-ms", "x-should-retry"),
    *("request-id", "x-request-id"),
)
_TO_CLIENT_BEGINNINGS = ("x-ratelimit-", "anthropic-ratelimit-")
_LARGEST_ERROR = 2**20
_DEARER_BETAS = ("context-1m", "fast-mode")
"""Beginnings of Anthropic's beta features with prices of their own."""


class Exchange:
    """The state of one call, whatever becomes of it."""

    def __init__(
        self,
        route: Route,
        screened: Screened,
        on_end: Callable[["Exchange"], None],
        *,
        keep_answer: bool,
    ) -> None:
        """Nothing is sent yet.

        Args:
            route: where the call goes.
            screened: the request as it may pass.
            on_end: called once, before the client can know that its answer is whole.
            keep_answer: whether the answer's bytes are kept for the log.
        """
        self.outcome = "client_gone"
        """As in :class:`GatewayLine`; what it starts with stays when the client goes away."""
        self.status: int | None = None
        """What the client got."""
        self.billed = False
        """Whether it can have cost money."""
        self.detail: str | None = None
        """Why it failed."""
        self.answer = bytearray() if keep_answer else None
        """What the client got, where it is kept."""
        self.meter = Meter(route.protocol, events=False, adds_usage=False)
        """What the answer said of its cost."""
        self._route = route
        self._screened = screened
        self._on_end = on_end
        self._ended = False
        self._response: web.StreamResponse | None = None
        self._started = time.monotonic()

    async def run(
        self,
        request: web.Request,
        session: aiohttp.ClientSession,
        upstream: Upstream,
        timeout_s: float,
    ) -> web.StreamResponse:
        """Send the request, pass the answer on; errors of the provider pass as they are."""
        try:
            return await self._run(request, session, upstream, timeout_s)
        finally:
            self._end()

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self.outcome == "client_gone" and self.meter.complete:
            self.outcome = "answered"  # the client left between the last event and the last byte
        self._on_end(self)

    async def _run(
        self,
        request: web.Request,
        session: aiohttp.ClientSession,
        upstream: Upstream,
        timeout_s: float,
    ) -> web.StreamResponse:
        payload = json.dumps(self._screened.body, ensure_ascii=True, separators=(",", ":"))
        headers = _request_headers(request) | upstream.authorization()
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=30)
        self.billed = True
        try:
            async with session.post(
                upstream.url(self._route),
                data=payload.encode(),
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
            ) as answer:
                if answer.status >= 300:
                    return await self._pass_error(answer)
                return await self._pass_answer(request, answer)
        except aiohttp.ClientConnectorError as error:
            self.billed = False
            return self._failed(request, "connection", 502, error)
        except TimeoutError as error:
            return self._failed(request, "timeout", 504, error)
        except aiohttp.ClientError as error:
            return self._failed(request, "broken", 502, error)

    async def _pass_error(self, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        """An error goes on whole, and without the key, which providers like to quote."""
        self.billed = False
        self.status = answer.status
        self.outcome = f"status {answer.status}"
        text = scrub((await answer.content.read(_LARGEST_ERROR)).decode(errors="replace"))
        self.detail = one_line(text)
        self._keep(text.encode())
        return web.Response(
            status=answer.status, body=text.encode(), headers=_answer_headers(answer)
        )

    async def _pass_answer(
        self, request: web.Request, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        self._response = response = web.StreamResponse(
            status=answer.status, headers=_answer_headers(answer)
        )
        self.meter = Meter(
            self._route.protocol,
            events=answer.content_type == "text/event-stream",
            adds_usage=self._screened.adds_usage,
        )
        try:
            await response.prepare(request)
            async for data in answer.content.iter_any():
                await self._write(response, self.meter.feed(data))
            await self._write(response, self.meter.end())
            self._judge(answer.status)
            self._end()
            await response.write_eof()
        except ConnectionError:
            return response
        return response

    def _judge(self, status: int) -> None:
        """Name the outcome of an answer that came to the end of its bytes."""
        self.status = status
        self.outcome = "counted" if self._route.counts_only else "answered"
        if not self.meter.complete and not self._route.counts_only:
            self.outcome = "broken"
            self.detail = "the answer ended without the end that its protocol has"

    async def _write(self, response: web.StreamResponse, data: bytes) -> None:
        if data:
            self._keep(data)
            await response.write(data)

    def _keep(self, data: bytes) -> None:
        if self.answer is not None:
            self.answer += data

    def _failed(
        self, request: web.Request, outcome: str, status: int, error: Exception
    ) -> web.StreamResponse:
        """Tell the client; where its answer has begun, by breaking it off as well."""
        self.outcome = outcome
        self.detail = one_line(f"{type(error).__name__}: {error}")
        if self._response is not None and self._response.prepared:
            self.outcome = "broken" if outcome != "timeout" else outcome
            if request.transport is not None:
                request.transport.abort()
            return self._response
        self.status = status
        body = error_body(self._route.protocol, status, outcome, f"the provider: {self.detail}")
        return web.json_response(body, status=status)

    def line(
        self, request: web.Request, usage: Usage, *, certain: bool, asked: str | None
    ) -> GatewayLine:
        """The line of the log, once the call is settled."""
        return GatewayLine(
            time=datetime.now(UTC),
            method=request.method,
            path=request.path,
            status=self.status,
            outcome=self.outcome,
            asked_model=self._screened.asked_model,
            served_model=self.meter.model,
            effort=self._screened.effort,
            stripped=tuple(self._screened.stripped),
            usage=usage,
            certain=certain,
            latency_s=time.monotonic() - self._started,
            detail=self.detail,
            request=asked,
            answer=None if self.answer is None else scrub(self.answer.decode(errors="replace")),
        )


def _request_headers(request: web.Request) -> dict[str, str]:
    """Of the client's headers those that matter to an answer: no authorization, no cookies."""
    kept = {name: request.headers[name] for name in _TO_PROVIDER if name in request.headers}
    if "anthropic-beta" in kept:
        features = [part.strip() for part in kept["anthropic-beta"].split(",")]
        same_price = [name for name in features if not name.startswith(_DEARER_BETAS)]
        kept["anthropic-beta"] = ",".join(same_price)
    return {**kept, "content-type": "application/json", "accept-encoding": "identity"}


def _answer_headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {
        name: value
        for name, value in answer.headers.items()
        if name.lower() in _TO_CLIENT or name.lower().startswith(_TO_CLIENT_BEGINNINGS)
    }
