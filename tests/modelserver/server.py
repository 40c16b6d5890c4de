"""The server: a thread with an event loop of its own, a queue of faults, and a record of everything."""

import asyncio
import hashlib
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from aiohttp import web

from modelserver import anthropic, chat, gemini, responses
from modelserver.default import default_reply
from modelserver.faults import Fault
from modelserver.neutral import Asked, Reply

Answerer = Callable[[dict[str, Any]], "dict[str, Any] | str | Reply | None"]

_NOTED_S = 5.0
"""Seconds within which an answer that was sent is noted."""


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    time: float
    """Seconds since the epoch."""
    query: str = ""


class ModelServer:
    """A model server on 127.0.0.1; use it as a context manager.

    Args:
        port: 0 takes a free one.
        latency: seconds before every answer.
        log: file to which every completed answer adds a line, synced before the next.
        api_key: the key that requests must carry in their protocol's header; None takes any.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        latency: float = 0.0,
        log: Path | None = None,
        api_key: str | None = None,
    ) -> None:
        self.port = port
        self.latency = latency
        self.log = log
        self.api_key = api_key
        self.rpm_limit: int | None = None
        """Requests per window that are let through; 429 with Retry-After beyond it."""
        self.rpm_window_s = 60.0
        """Length of that window in seconds."""
        self.models = ["stub-model"]
        """What ``/v1/models`` lists."""
        self.requests: list[Received] = []
        """All requests, refused ones included."""
        self._bought: list[dict[str, Any]] = []
        self._ending = 0
        self.in_flight = 0
        """Requests that wait for their answer."""
        self.peak = 0
        """The most requests that ever waited at one time."""
        self.errors: list[Exception] = []
        """What a test's own answering function raised; the client got a 500."""
        self._faults: deque[Fault] = deque()
        self._answerer: Answerer | None = None
        self._window: deque[float] = deque()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    @property
    def url(self) -> str:
        """Base address: that of Anthropic's and Google's protocols."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai(self) -> str:
        """Base address of OpenAI's protocols."""
        return f"{self.url}/v1"

    @property
    def bought(self) -> list[dict[str, Any]]:
        """Bodies of the requests that were answered completely with 200.

        A client can see the last byte before the answer is noted; so answers whose last byte is
        on its way are waited for.
        """
        deadline = time.monotonic() + _NOTED_S
        here = threading.current_thread() is self._thread
        while self._ending and not here and time.monotonic() < deadline:
            time.sleep(0.002)
        return self._bought

    def answer(self, answerer: Answerer | None) -> None:
        """Let a function of the request's body make the content; its None means the default."""
        self._answerer = answerer

    def fail(self, *faults: Fault | Callable[[], Fault]) -> None:
        """Let the next requests go wrong, one fault each, in order."""
        self._faults.extend(f if isinstance(f, Fault) else f() for f in faults)

    def count(self, path: str | None = None) -> int:
        """Number of requests, of all or of one path."""
        return sum(path is None or request.path == path for request in self.requests)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Begin to listen; a port that was chosen once is kept when it starts again."""
        self._ready.clear()
        self._thread = threading.Thread(target=self._run, name="modelserver", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Drop all connections and stop listening; harmless when called again."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
            self._loop = self._thread = None

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
            self._ready.set()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024)
            await site.start()
            self.port = runner.addresses[0][1]
            self._loop = asyncio.get_running_loop()
            self._ready.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw) if raw else {}
        except json.JSONDecodeError:
            body = {"unreadable": raw.decode(errors="replace")}
        self.requests.append(
            Received(
                request.method, request.path, body, dict(request.headers), time.time(),
                request.query_string,
            )
        )  # fmt: skip
        if request.method == "GET" and request.path.endswith("/models"):
            listed = [{"id": name, "object": "model"} for name in self.models]
            return web.json_response({"object": "list", "data": listed})
        protocol = _protocol(request.path)
        if protocol is None or request.method != "POST":
            return web.json_response(chat.error(404, f"no such path: {request.path}"), status=404)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self._answered(request, body, protocol)
        finally:
            self.in_flight -= 1

    async def _answered(
        self, request: web.Request, body: dict[str, Any], protocol: ModuleType
    ) -> web.StreamResponse:
        asked: Asked = protocol.read(body, request.path)
        refused = self._unauthorized(request, protocol) or self._beyond_limit(protocol)
        if refused is not None:
            return refused
        if request.path.endswith(("/count_tokens", ":countTokens")):
            return web.json_response(protocol.count_tokens(asked))
        fault = self._faults.popleft() if self._faults else None
        kind = fault.kind if fault else None
        await self._wait(self.latency + (fault.seconds if fault and kind == "latency" else 0))
        while kind == "hang" and not self._stop.is_set() and request.transport is not None:
            await self._wait(0.05)
        if kind in ("drop", "hang"):
            return _dropped(request)
        if fault and kind == "status":
            return _error(protocol, fault.code, fault.message, fault.retry_after)
        try:
            reply = self._reply(body, asked)
        except Exception as error:
            self.errors.append(error)
            return _error(protocol, 500, f"the test's answering function raised {error!r}", None)
        if fault:
            reply = fault.spoil(reply, asked)
        return await self._send(request, body, asked, reply, protocol, fault)

    def _reply(self, body: dict[str, Any], asked: Asked) -> Reply:
        made = self._answerer(body) if self._answerer else None
        if made is None:
            return default_reply(asked)
        if isinstance(made, Reply):
            return made
        return Reply(content=made if isinstance(made, str) else json.dumps(made))

    async def _send(
        self,
        request: web.Request,
        body: dict[str, Any],
        asked: Asked,
        reply: Reply,
        protocol: ModuleType,
        fault: Fault | None,
    ) -> web.StreamResponse:
        kind = fault.kind if fault else None
        if kind == "not_protocol":
            return web.Response(text="<html>502 from a proxy</html>", content_type="text/html")
        response = web.StreamResponse()
        chunks: Iterable[bytes]
        if asked.stream:
            response.content_type = "text/event-stream"
            chunks = protocol.events(reply, asked, body)
        else:
            data = json.dumps(protocol.whole(reply, asked)).encode()
            response.content_type = "application/json"
            response.content_length = len(data)
            chunks = _split(data, 8) if kind == "slow_stream" else [data]
        if kind == "half_answer":
            chunks = _half(list(chunks))
        *leading, last = chunks
        pause = fault.seconds if fault and kind == "slow_stream" else 0.0
        try:
            await response.prepare(request)
            for chunk in leading:
                await self._wait(pause)
                await response.write(chunk)
            await self._wait(pause)
            if kind == "half_answer":
                await response.write(last)
                return _dropped(request, response)
            await self._end(response, last, request.path, body)
        except ConnectionError:
            return response
        return response

    async def _end(
        self, response: web.StreamResponse, last: bytes, path: str, body: dict[str, Any]
    ) -> None:
        """Send the last bytes and note the answer; see :attr:`bought`."""
        self._ending += 1
        try:
            await response.write(last)
            await response.write_eof()
            self._complete(path, body)
        finally:
            self._ending -= 1

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            try:
                await asyncio.wait_for(self._stop.wait(), seconds)
            except TimeoutError:
                return

    def _complete(self, path: str, body: dict[str, Any]) -> None:
        self._bought.append(body)
        if self.log is None:
            return
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(canonical.encode(errors="surrogatepass")).hexdigest()
        with self.log.open("a") as stream:
            stream.write(json.dumps({"time": time.time(), "path": path, "sha256": digest}) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def _unauthorized(self, request: web.Request, protocol: ModuleType) -> web.Response | None:
        given = {
            request.headers.get("Authorization", "").removeprefix("Bearer "),
            request.headers.get("x-api-key"),
            request.headers.get("x-goog-api-key"),
            request.query.get("key"),
        }
        if self.api_key is None or self.api_key in given:
            return None
        return _error(protocol, 401, "Incorrect API key provided", None)

    def _beyond_limit(self, protocol: ModuleType) -> web.Response | None:
        if self.rpm_limit is None:
            return None
        now = time.monotonic()
        while self._window and self._window[0] <= now - self.rpm_window_s:
            self._window.popleft()
        if len(self._window) < self.rpm_limit:
            self._window.append(now)
            return None
        wait = max(1, round(self._window[0] + self.rpm_window_s - now + 0.5))
        return _error(protocol, 429, "Rate limit reached for requests", wait)


def _protocol(path: str) -> ModuleType | None:
    if path.endswith("/chat/completions"):
        return chat
    if path.endswith("/responses"):
        return responses
    if path.endswith(("/v1/messages", "/v1/messages/count_tokens")):
        return anthropic
    if path.endswith((":generateContent", ":streamGenerateContent", ":countTokens")):
        return gemini
    return None


def _error(
    protocol: ModuleType, status: int, message: str | None, retry_after: float | str | None
) -> web.Response:
    text = message or f"the server was told to answer {status}"
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return web.json_response(protocol.error(status, text), status=status, headers=headers)


def _dropped(
    request: web.Request, response: web.StreamResponse | None = None
) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort() if response is None else request.transport.close()
    return response or web.Response()


def _split(data: bytes, parts: int) -> Iterator[bytes]:
    size = max(1, -(-len(data) // parts))
    return (data[start : start + size] for start in range(0, len(data), size))


def _half(chunks: list[bytes]) -> list[bytes]:
    if len(chunks) == 1:
        return [chunks[0][: len(chunks[0]) // 2]]
    return chunks[: len(chunks) // 2]
