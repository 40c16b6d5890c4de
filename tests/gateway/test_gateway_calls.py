"""The gateway between a client and a provider, over its socket; users_ask.md rows 16, 18-20, 23, 39."""

import json
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from gateway_helpers import KEY, KEY_ENV, model_at, until
from modelserver import Fault, Reply, Tokens, Tool

from probe.errors import ModelError, RecordError
from probe.gateway import Caps, Gateway, GatewayLine
from probe.models.ledger import Ledger
from probe.records.store import read_jsonl
from probe.sandbox.base import Mount

HELLO = {"role": "user", "content": "hello"}
CALLS = {
    "chat": ("openai", "/v1/chat/completions", {"model": "x", "messages": [HELLO]}),
    "responses": ("openai", "/v1/responses", {"model": "x", "input": "hello"}),
    "messages": ("anthropic", "/v1/messages", {"model": "x", "max_tokens": 9, "messages": [HELLO]}),
    "gemini": (
        "gemini",
        "/v1beta/models/x:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
    ),
}
SCRIPTED = Reply(
    content="done \u00e9",
    tool_calls=[Tool("bash", {"command": "ls"}, id="call_a")],
    usage=Tokens(input=1_000, cache_read=100, cache_write=10, output=50, reasoning=20),
)
CACHED_USD = (1_000 * 2 + 100 * 0.2 + 10 * 2.5 + 50 * 10) / 1e6
"""Anthropic counts what is written to its cache apart."""
PLAIN_USD = (1_010 * 2 + 100 * 0.2 + 50 * 10) / 1e6
CHAT = CALLS["chat"]


def asked(protocol, stream):
    provider, path, body = CALLS[protocol]
    if protocol == "gemini":
        return provider, path.replace(":g", ":streamG") if stream else path, body
    return provider, path, body | {"stream": stream}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", list(CALLS))
def test_a_call_passes_and_is_paid_for(server, opened, ledger, protocol, stream):
    server.answer(lambda body: SCRIPTED)
    provider, path, body = asked(protocol, stream)
    one = opened(provider)
    answer = one.post(path, body, headers={"Authorization": "Bearer dummy", "Cookie": "a=b"})
    assert answer.status_code == 200
    assert "call_a" in answer.text or "toolu_a" in answer.text or "functionCall" in answer.text
    report = one.report
    usd = CACHED_USD if protocol == "messages" else PLAIN_USD
    assert report.usage.usd == pytest.approx(usd, rel=1e-12)
    assert (report.usage.output_tokens, report.usage.cache_read_tokens) == (50, 100)
    assert (report.calls, report.answered, report.uncertain, report.limit) == (1, 1, 0, None)
    assert (report.asked_models, len(report.served_models)) == (("x",), 1)
    assert report.served_models[0] == f"{one.gateway._upstream.model}-served"
    totals = ledger.totals()
    assert (totals.spent, totals.open, totals.uncertain) == (pytest.approx(usd), 0, 0)


def test_the_provider_sees_the_key_and_nothing_of_the_client(server, opened):
    one = opened("anthropic")
    headers = {
        "x-api-key": "dummy",
        "Cookie": "session=1",
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "tools-1,context-1m-2025-08-07",
        "OpenAI-Organization": "other",
        "x-forwarded-for": "1.2.3.4",
    }
    assert one.post("/v1/messages?beta=true&key=stolen", CALLS["messages"][2], headers=headers)
    got = server.requests[0]
    lower = {name.lower(): value for name, value in got.headers.items()}
    assert lower["x-api-key"] == KEY
    assert lower["anthropic-beta"] == "tools-1"
    assert set(lower) <= {
        *("host", "accept", "accept-encoding", "user-agent", "content-length", "content-type"),
        *("x-api-key", "anthropic-version", "anthropic-beta"),
    }
    assert got.query == ""


def test_a_stream_arrives_as_it_is_made(server, opened):
    server.fail(Fault.slow_stream(0.1))
    one = opened("anthropic")
    body = CALLS["messages"][2] | {"stream": True}
    with one.client.stream("POST", "/v1/messages", json=body) as answer:
        parts = answer.iter_raw()
        assert b"message_start" in next(parts)
        assert server.in_flight == 1
        assert b"message_stop" in b"".join(parts)


def test_a_chat_stream_comes_without_the_chunk_that_the_gateway_asked_for(server, opened):
    one = opened()
    body = CHAT[2] | {"stream": True}
    plain = one.post(CHAT[1], body).text
    assert '"choices": []' not in plain
    assert plain.endswith("data: [DONE]\n\n")
    wanted = one.post(CHAT[1], body | {"stream_options": {"include_usage": True}}).text
    assert '"choices": []' in wanted
    assert one.report.usage.input_tokens == 2 * 2  # "hello" is two tokens for the test server


def test_a_bound_is_booked_while_a_call_is_under_way(server, opened, ledger):
    server.fail(Fault.latency(1))
    one = opened()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(one.post, CHAT[1], CHAT[2])
        until(lambda: server.in_flight == 1)
        booked = ledger.totals().open
        assert call.result().is_success
    assert booked >= 1_000 * 10 / 1e6  # the longest answer alone
    assert ledger.totals().open == 0


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_breaks_off_breaks_off_and_costs_its_bound(server, opened, ledger, stream):
    server.fail(Fault.half_answer())
    one = opened()
    with pytest.raises(httpx.RemoteProtocolError):
        one.post(CHAT[1], CHAT[2] | {"stream": stream})
    until(lambda: one.report.uncertain == 1)
    assert one.report.errors == {"broken": 1}
    assert ledger.totals().uncertain == one.report.usage.usd > 0.01


def test_a_client_that_goes_ends_the_call_at_the_provider(server, opened, ledger):
    server.fail(Fault.hang())
    one = opened()
    with pytest.raises(httpx.ReadTimeout):
        one.post(CHAT[1], CHAT[2], timeout=0.3)
    until(lambda: one.report.calls == 1)
    assert one.report.errors == {"client_gone": 1}
    assert ledger.totals().uncertain > 0


def test_the_end_of_the_gateway_settles_what_is_under_way(server, ledger):
    server.fail(Fault.hang())
    with Gateway(model_at(server, "openai"), ledger, purpose="x") as gateway:
        transport = httpx.HTTPTransport(uds=str(gateway.socket))
        with httpx.Client(transport=transport, base_url="http://gateway") as client:
            with ThreadPoolExecutor(1) as pool:
                call = pool.submit(client.post, CHAT[1], json=CHAT[2], timeout=30)
                until(lambda: server.in_flight == 1)
                gateway.__exit__()
                assert call.exception() is not None
            assert gateway.report().uncertain == 1
            totals = ledger.totals()
            assert (totals.open, totals.lost) == (0, 0)
            assert totals.uncertain > 0
            assert not gateway.socket.exists()


@pytest.mark.parametrize("code", [401, 429, 500, 529])
def test_errors_of_the_provider_pass_as_they_are_and_cost_nothing(server, opened, ledger, code):
    server.fail(Fault.status(code, retry_after=3, message=f"no: {KEY} is wrong"))
    one = opened("anthropic", bodies=True)
    answer = one.post("/v1/messages", CALLS["messages"][2])
    assert (answer.status_code, answer.headers["retry-after"]) == (code, "3")
    assert answer.json()["error"]["message"] == "no: [key] is wrong"
    assert one.report.errors == {f"status {code}": 1}
    assert ledger.totals().committed == 0


def test_an_answer_without_usage_or_of_another_protocol_costs_its_bound(server, opened, ledger):
    server.answer(lambda body: Reply(content="x", usage={}))
    server.fail(Fault.latency(0), Fault.not_protocol())
    one = opened()
    assert one.post(CHAT[1], CHAT[2]).is_success
    assert one.post(CHAT[1], CHAT[2]).is_success
    assert one.report.uncertain == 2
    assert one.report.errors == {"broken": 1}
    assert ledger.totals().uncertain == pytest.approx(one.report.usage.usd)


def test_counting_tokens_is_free_and_no_call(server, opened, ledger):
    one = opened("anthropic", Caps(calls=1))
    for _ in range(3):
        counted = one.post("/v1/messages/count_tokens", CALLS["messages"][2])
        assert counted.json() == {"input_tokens": 2}
    assert (one.report.calls, one.report.answered) == (0, 0)
    assert ledger.counts() == {}
    assert server.requests[0].body["model"] == "claude-real"
    assert "max_tokens" in server.requests[0].body


@pytest.mark.parametrize(
    ("caps", "limit", "passed"),
    [
        (Caps(calls=2), "calls", 2),
        (Caps(usd=PLAIN_USD * 1.5), "usd", 2),
        (Caps(seconds=0), "seconds", 0),
    ],
)
def test_beyond_a_cap_every_call_is_refused(server, opened, caps, limit, passed):
    server.answer(lambda body: SCRIPTED)
    one = opened(caps=caps)
    answers = [one.post(CHAT[1], CHAT[2]) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200] * passed + [400] * (4 - passed)
    assert answers[-1].json()["error"]["code"] == f"limit_{limit}"
    assert one.report.limit == limit
    assert one.report.refused == {f"limit_{limit}": 4 - passed}
    assert len(server.requests) == passed


def test_the_budget_of_the_workflow_holds_strictly(server, opened, tmp_path):
    one = opened(ledger=Ledger(tmp_path / "poor", 0.001))
    answer = one.post(CHAT[1], CHAT[2])
    assert answer.status_code == 400
    assert "budget.usd" in answer.json()["error"]["message"]
    assert (one.report.limit, one.report.calls, server.requests) == ("budget", 0, [])


def test_parallel_calls_cannot_pass_the_cap_on_calls(server, opened):
    server.latency = 0.2
    one = opened(caps=Caps(calls=5))
    with ThreadPoolExecutor(16) as pool:
        codes = list(pool.map(lambda _: one.post(CHAT[1], CHAT[2]).status_code, range(16)))
    assert codes.count(200) == len(server.bought) == 5


def test_a_provider_out_of_reach_is_a_limit_of_its_own(server, opened, ledger):
    one = opened(caps=Caps(failures=3))
    server.fail(Fault.status(500), Fault.status(503))
    assert [one.post(CHAT[1], CHAT[2]).status_code for _ in range(3)] == [500, 503, 200]
    server.close()
    codes = [one.post(CHAT[1], CHAT[2]).status_code for _ in range(5)]
    assert codes == [502, 502, 502, 400, 400]
    assert one.report.limit == "failures"
    assert one.report.errors == {"connection": 3, "status 500": 1, "status 503": 1}
    assert ledger.totals().uncertain == 0


def test_before_the_first_answer_less_is_waited_for(server, opened):
    later = opened()
    later.post(CHAT[1], CHAT[2])
    server.fail(*[Fault.status(500)] * 5, *[Fault.status(401)] * 5)
    codes = [later.post(CHAT[1], CHAT[2]).status_code for _ in range(11)]
    assert codes == [500] * 5 + [401] * 5 + [200]
    server.fail(*[Fault.status(401)] * 9)
    one = opened()
    assert [one.post(CHAT[1], CHAT[2]).status_code for _ in range(4)] == [401, 401, 401, 400]
    assert one.report.limit == "failures"


def test_a_provider_that_is_too_slow(server, opened, ledger):
    server.fail(Fault.hang(), Fault.slow_stream(0.3))
    one = opened(settings={"timeout_s": 0.4})
    answer = one.post(CHAT[1], CHAT[2])
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timeout")
    with pytest.raises(httpx.RemoteProtocolError):
        one.post(CHAT[1], CHAT[2])
    until(lambda: one.report.uncertain == 2)
    assert one.report.errors == {"timeout": 2}
    assert ledger.totals().uncertain > 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("POST", "/v1/files"),
        ("POST", "/v1/messages"),
        ("DELETE", "/v1/responses/x"),
        ("POST", "/v1beta/models/x:generateContent"),
        ("POST", "/v1/chat/completions/%2e%2e/files"),
    ],
)
def test_other_paths_and_protocols_are_refused_and_recorded(server, opened, method, path):
    one = opened("openai")
    answer = one.client.request(method, path, content=b"{}")
    assert answer.status_code == 404
    assert "error" in answer.json()
    assert (one.report.refused, server.requests) == ({"path": 1}, [])


def test_an_address_in_the_request_leads_nowhere_else(server, opened):
    one = opened()
    body = json.dumps(CHAT[2]).encode()
    lines = b"POST http://elsewhere.example/v1/chat/completions HTTP/1.1\r\nHost: elsewhere\r\n"
    lines += b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(one.gateway.socket))
        client.sendall(lines + body)
        said = b"".join(iter(lambda: client.recv(65_536), b""))
    assert said.startswith(b"HTTP/1.1 200")
    assert len(server.bought) == 1


class Redirecting(BaseHTTPRequestHandler):
    """A provider that sends its clients elsewhere, with a cookie."""

    target = ""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", self.target)
        self.send_header("Set-Cookie", "track=1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        return


def test_redirections_are_not_followed(server, opened):
    Redirecting.target = f"{server.openai}/chat/completions"
    with HTTPServer(("127.0.0.1", 0), Redirecting) as provider:
        thread = threading.Thread(target=provider.handle_request)
        thread.start()
        one = opened(settings={"api_base": f"http://127.0.0.1:{provider.server_port}/v1"})
        answer = one.post(CHAT[1], CHAT[2])
        thread.join()
    assert (answer.status_code, server.requests) == (307, [])
    assert not {"location", "set-cookie"} & set(answer.headers)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"max_tokens": NaN}', b"\xff", b'{"messages": ' + b"[" * 100_000],
)
def test_bodies_that_are_no_request_are_refused(server, opened, content):
    one = opened()
    answer = one.client.post(CHAT[1], content=content)
    assert answer.status_code == 400
    assert (one.report.refused, server.requests) == ({"bad_request": 1}, [])


def test_deep_json_is_refused_at_some_depth_and_breaks_nothing(server, opened, ledger):
    server.answer(lambda body: "shallow")
    one = opened()
    codes = []
    for depth in range(50, 1_500, 50):
        deep = b'{"metadata": ' + b"[" * depth + b"]" * depth + b"}"
        codes.append(one.client.post(CHAT[1], content=deep).status_code)
    assert codes == sorted(codes)
    assert set(codes) == {200, 400}
    assert one.post(CHAT[1], CHAT[2]).is_success
    assert ledger.totals().uncertain == 0


def test_a_key_that_stands_twice_is_read_as_it_is_sent_on(server, opened):
    one = opened()
    twice = b'{"tools": [{"type": "web_search"}], "tools": [{"type": "function"}], "messages": []}'
    assert one.client.post(CHAT[1], content=twice).is_success
    assert server.requests[0].body["tools"] == [{"type": "function"}]


def test_a_huge_request_is_refused(server, opened):
    one = opened()
    content = (b" " * 2**20 for _ in range(65))
    assert one.client.post(CHAT[1], content=content).status_code == 413
    assert one.report.refused == {"too_large": 1}


def test_a_web_search_is_taken_out_or_refused_and_both_are_reported(server, opened):
    one = opened()
    function = {"type": "function", "name": "bash"}
    search = {"type": "web_search"}
    both = {"input": "hello", "tools": [search, function]}
    assert one.post("/v1/responses", both).is_success
    assert server.requests[0].body["tools"] == [function]
    alone = one.post("/v1/responses", {"input": "hello", "tools": [search]})
    assert (alone.status_code, alone.json()["error"]["code"]) == (400, "server_tool")
    assert "web_search" in alone.json()["error"]["message"]
    assert one.report.stripped == {"web_search": 1}
    assert one.report.refused == {"server_tool": 1}


def test_the_log_has_a_line_a_request_and_no_headers(server, opened, tmp_path):
    log = tmp_path / "deep" / "log.jsonl"
    one = opened(log=log)
    headers = {"Authorization": "Bearer dummy-credential"}
    one.post(CHAT[1] + "?key=dummy-credential", CHAT[2], headers=headers)
    one.post("/v1/files", {})
    lines = read_jsonl(log, GatewayLine)
    assert [(line.path, line.outcome) for line in lines] == [
        (CHAT[1], "answered"),
        ("/v1/files", "refused: path"),
    ]
    assert lines[0].usage.usd == one.report.usage.usd
    text = log.read_text()
    assert "dummy-credential" not in text
    assert "hello" not in text


def test_bodies_are_recorded_where_wanted_without_keys(server, opened, tmp_path):
    log = tmp_path / "log.jsonl"
    one = opened(log=log, bodies=True)
    one.post(CHAT[1], {"messages": [{"role": "user", "content": f"hello {KEY}"}]})
    (line,) = read_jsonl(log, GatewayLine)
    assert "hello [key]" in line.request
    assert "hello [key]" in line.answer
    assert KEY not in log.read_text()
    assert one.gateway._log.lines[0].answer is None


def test_without_a_key_or_price_nothing_starts(server, ledger, monkeypatch):
    with pytest.raises(ModelError, match="no price"):
        Gateway(model_at(server, "openai", price=None), ledger, purpose="x").__enter__()
    monkeypatch.delenv(KEY_ENV)
    with pytest.raises(ModelError, match=f"^{KEY_ENV} is not set"):
        Gateway(model_at(server, "openai"), ledger, purpose="x").__enter__()


def test_a_free_server_without_a_key(server, opened, ledger):
    server.api_key = None
    one = opened(settings={"price": "free", "key_env": None})
    assert one.post(CHAT[1], CHAT[2], headers={"Authorization": "Bearer dummy"}).is_success
    assert "Authorization" not in server.requests[0].headers
    assert (one.report.usage.usd, one.report.uncertain) == (0, 0)
    assert ledger.totals().committed == 0


def test_where_it_listens(server, opened, ledger, tmp_path):
    one = opened(socket=tmp_path / "s")
    assert one.gateway.mount == Mount(tmp_path / "s", "/run/probe/gateway.sock")
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o666
    other = opened()
    assert stat.S_IMODE(other.gateway.socket.parent.stat().st_mode) == 0o700
    with pytest.raises(ModelError, match="longer than 100"):
        Gateway(
            model_at(server, "openai"), ledger, purpose="x", socket=tmp_path / ("s" * 100)
        ).__enter__()


@pytest.mark.tmpfs
def test_a_full_disk_ends_the_pass_as_failed(server, opened, full_disk):
    one = opened(ledger=Ledger(full_disk / "state", 100.0))
    assert one.post(CHAT[1], CHAT[2]).is_success
    (full_disk / "filler").write_bytes(b"x" * (2**20 - 40_960))
    with pytest.raises(OSError, match="space"), (full_disk / "rest").open("wb") as rest:
        rest.write(b"x" * 2**20)
    codes = [one.post(CHAT[1], CHAT[2]).status_code for _ in range(40)]
    assert codes[-1] == 400
    with pytest.raises(RecordError):
        one.gateway.report()
