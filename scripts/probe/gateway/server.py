"""The gateway itself: a thread of the job's process that listens on a unix socket."""

import asyncio
import json
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import aiohttp
from aiohttp import web

from probe.errors import ModelError, ProbeError
from probe.gateway.account import Account, Caps, summed
from probe.gateway.exchange import Exchange
from probe.gateway.inside import SOCKET
from probe.gateway.report import GatewayLine, GatewayReport, LineLog
from probe.gateway.routes import Route, error_body, find_route, protocol_of, upstream_of
from probe.gateway.screen import Body, RefusalError, Screened, screen
from probe.models.base import Model
from probe.models.ledger import Ledger
from probe.models.prices import check_price
from probe.models.secrets import one_line, register_key, scrub
from probe.records import Usage
from probe.sandbox.base import Mount

_LARGEST_REQUEST = 64 * 2**20
_LONGEST_PATH = 100
"""Characters; Linux takes 107 for a unix socket."""


class Gateway:
    """Passes the calls of one sandbox on to one model; use it as a context manager.

    The key is read from the environment of this process for each call and never leaves it but in
    the header to the provider.
    """

    def __init__(
        self,
        model: Model,
        ledger: Ledger,
        caps: Caps = Caps(),  # noqa: B008 # frozen
        *,
        purpose: str,
        socket: Path | None = None,
        log: Path | None = None,
        bodies: bool = False,
    ) -> None:
        """Nothing listens before it is entered.

        Args:
            model: to whom all calls go, whatever model the client names.
            ledger: where they are booked.
            caps: what the pass may use.
            purpose: for people and the ledger: ``audit sqlglot/codex/batch-003``.
            socket: where to listen; in a private temporary folder by default.
            log: file for a line of JSON per request (:class:`GatewayLine`).
            bodies: whether the log holds requests and answers whole, keys masked.
        """
        self._model = model
        self._upstream = upstream_of(model)
        self._ledger = ledger
        self._caps = caps
        self._purpose = purpose
        self._given_socket = socket
        self._log_path = log
        self._bodies = bodies
        self._failure: BaseException | None = None
        self._ready = threading.Event()

    def __enter__(self) -> Self:
        """Begin to listen.

        Raises:
            ModelError: no key, no price, or a socket that cannot be made.
            RecordError: the log cannot be written.
        """
        check_price(self._model.name, self._model.entry)
        self._upstream.authorization()
        if self._upstream.key_env:
            register_key(self._upstream.key_env)
        self._log = LineLog(self._log_path)
        self._folder = tempfile.TemporaryDirectory(prefix="probe-gateway-")
        self.socket = self._given_socket or Path(self._folder.name) / "socket"
        """Where it listens, on the host."""
        self._account = Account(self._model, self._ledger, self._caps, self._purpose)
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._clean()
            reason = one_line(str(self._failure))
            raise ModelError(f"gateway: cannot listen on {self.socket}: {reason}")
        return self

    def __exit__(self, *_: object) -> None:
        """Break off what is under way, settle it, and remove the socket; harmless when repeated."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
        self._clean()

    @property
    def mount(self) -> Mount:
        """What a sandbox needs to see."""
        return Mount(self.socket, SOCKET)

    def report(self) -> GatewayReport:
        """What has happened so far, or altogether after the end.

        Raises:
            ProbeError: the gateway itself failed (a full disk, say): the pass counts for nothing.
        """
        if self._failure is not None:
            raise self._failure
        return summed(list(self._log.lines), self._account.limit)

    def _clean(self) -> None:
        self._log.close()
        self.socket.unlink(missing_ok=True)
        self._folder.cleanup()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
            self._ready.set()

    async def _serve(self) -> None:
        if len(str(self.socket)) > _LONGEST_PATH:
            raise OSError(f"longer than {_LONGEST_PATH} characters; set TMPDIR to a shorter folder")
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=_LARGEST_REQUEST)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None
        )
        await runner.setup()
        async with aiohttp.ClientSession(trust_env=True, auto_decompress=True) as self._session:
            try:
                await web.UnixSite(runner, str(self.socket)).start()
                self.socket.chmod(0o666)  # users inside a sandbox have ids of their own
                self._ready.set()
                await self._stop.wait()
            finally:
                await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        route = find_route(request.method, request.path)
        raw = b""
        try:
            if route is None or route.protocol not in self._upstream.protocols:
                text = f"{request.method} {request.path} is not passed on to {self._model.name}"
                raise RefusalError(404, "path", text)
            if self._failure is not None:
                raise RefusalError(400, "gateway", one_line(str(self._failure)))
            self._account.check()
            raw = await _read(request)
            screened = screen(route, _parsed(raw), self._model.entry, self._upstream)
            return await self._pass_on(request, route, screened, self._kept(raw))
        except RefusalError as refused:
            return self._refuse(request, route, refused, self._kept(raw))
        except RecursionError:
            deep = RefusalError(400, "bad_request", "the body is nested too deeply")
            return self._refuse(request, route, deep, self._kept(raw))
        except ProbeError as error:
            self._fail(error)
            broken = RefusalError(400, "gateway", one_line(str(error)))
            return self._refuse(request, route, broken, self._kept(raw))

    def _fail(self, error: ProbeError) -> None:
        """Remember the first failure of the gateway's own: no call passes any more."""
        self._failure = self._failure or error

    async def _pass_on(
        self, request: web.Request, route: Route, screened: Screened, asked: str | None
    ) -> web.StreamResponse:
        booking = None if route.counts_only else self._account.book(screened.body)

        def settle(ended: Exchange) -> None:
            usage, certain = Usage(), True
            try:
                if booking is not None:
                    usage, certain = self._account.settle(
                        booking,
                        ended.meter.usage,
                        ended.outcome,
                        billed=ended.billed,
                        whole=ended.meter.complete,
                    )
                self._log.add(ended.line(request, usage, certain=certain, asked=asked))
            except ProbeError as error:
                self._fail(error)

        exchange = Exchange(route, screened, settle, keep_answer=self._bodies)
        timeout = self._model.entry.timeout_s
        return await exchange.run(request, self._session, self._upstream, timeout)

    def _refuse(
        self, request: web.Request, route: Route | None, refused: RefusalError, asked: str | None
    ) -> web.Response:
        line = GatewayLine(
            time=datetime.now(UTC),
            method=request.method,
            path=request.path,
            status=refused.status,
            outcome=f"refused: {refused.code}",
            detail=refused.message,
            request=asked,
        )
        try:
            self._log.add(line)
        except ProbeError as error:
            self._fail(error)
        protocol = route.protocol if route else protocol_of(request.path)
        body = error_body(protocol, refused.status, refused.code, refused.message)
        return web.json_response(body, status=refused.status)

    def _kept(self, raw: bytes) -> str | None:
        return scrub(raw.decode(errors="replace")) if self._bodies else None


async def _read(request: web.Request) -> bytes:
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        text = f"more than {_LARGEST_REQUEST} bytes in a request"
        raise RefusalError(413, "too_large", text) from error


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _parsed(raw: bytes) -> Body:
    """The request's object; written anew later, so that no key can stand in it twice."""
    try:
        body = json.loads(raw, parse_constant=_no_number)
    except ValueError as error:
        raise RefusalError(400, "bad_request", f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise RefusalError(400, "bad_request", "the body is no JSON object")
    return body
