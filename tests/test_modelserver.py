"""The test server itself: what it promises to every other suite."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modelserver import Fault, ModelServer, Reply, Tokens, Tool, instance
from modelserver.default import shown_files
from modelserver.neutral import schema_in_prompt
from modelserver.schemas import matching

TESTS = Path(__file__).parent
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["is_fix", "confidence", "kind", "note", "places"],
    "properties": {
        "is_fix": {"type": "boolean"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "kind": {"enum": ["logic", "error"]},
        "note": {"anyOf": [{"type": "string", "maxLength": 6}, {"type": "null"}]},
        "places": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
    },
    "$defs": {
        "Place": {
            "type": "object",
            "required": ["path", "first"],
            "properties": {
                "path": {"type": "string", "pattern": r"^[a-z]+/[\w.]+\.py$"},
                "first": {"type": "integer", "exclusiveMinimum": 0},
                "inner": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
            },
        }
    },
}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Please fix the parser"}]}


def post(server, body, path="/v1/chat/completions", **options):
    return httpx.post(server.url + path, json=body, timeout=10, **options)


def wanting(schema):
    return {**CHAT, "response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}


def events(text):
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_instances_satisfy_the_schema_and_do_not_end_in_recursion():
    jsonschema.validate(instance(SCHEMA), SCHEMA)
    assert instance(SCHEMA) == instance(SCHEMA)
    assert instance(SCHEMA)["kind"] == "logic"


@given(
    st.recursive(
        st.sampled_from(
            [
                {"type": "string", "minLength": 3, "maxLength": 5},
                {"type": "integer", "minimum": 2, "maximum": 9, "multipleOf": 4},
                {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                {"type": ["null", "boolean"]},
                {"const": 7},
                {"enum": [None, "b"]},
                {"type": "string", "format": "date"},
                {"type": "string", "pattern": r"^[^a-z]{2,}\d?(x|y)$"},
                {},
            ]
        ),
        lambda inner: st.one_of(
            inner.map(lambda s: {"type": "array", "items": s, "minItems": 2}),
            st.lists(inner, min_size=1, max_size=3).map(lambda s: {"anyOf": s}),
            st.lists(inner, min_size=1, max_size=2).map(lambda s: {"oneOf": s[:1]}),
            st.dictionaries(st.sampled_from("abc"), inner).map(
                lambda p: {"type": "object", "properties": p, "required": sorted(p)}
            ),
        ),
        max_leaves=8,
    )
)
def test_any_schema_of_the_kinds_in_use_is_satisfied(schema):
    jsonschema.validate(instance(schema), schema)


def test_texts_for_patterns():
    assert matching(r"^[0-9a-f]{40}$") == "0" * 40
    with pytest.raises(ValueError, match="cannot make"):
        matching(r"a(?=b)c")


def test_a_schema_is_found_behind_its_line_in_the_prompt():
    assert schema_in_prompt('Do it.\n\nJSON schema:\n{"type": "object"}\nEnd.') == {
        "type": "object"
    }
    assert schema_in_prompt("no schema: here {") is None
    assert schema_in_prompt("JSON schema:\n{cut") is None


def test_shown_files_are_read_from_their_headers_once_each():
    prompt = (
        "FILE: src/a.py\n1 x = 1\n## File: `lib/b c.js` (200 lines)\nFILE: src/a.py\nthe file: is"
    )
    assert shown_files(prompt) == ["src/a.py", "lib/b c.js"]


def test_chat_answers_by_schema_and_says_what_it_was_asked(server):
    answer = post(server, wanting(SCHEMA)).json()
    value = json.loads(answer["choices"][0]["message"]["content"])
    jsonschema.validate(value, SCHEMA)
    assert value["is_fix"] is True
    assert answer["model"] == "m-served"
    assert answer["usage"]["prompt_tokens"] == 6  # 21 characters, four to a token
    assert server.requests[0].body == server.bought[0] == wanting(SCHEMA)
    assert server.count("/v1/chat/completions") == server.count() == 1


def test_the_word_fix_decides_a_classification(server):
    body = wanting(SCHEMA) | {"messages": [{"role": "user", "content": "prefix and suffix"}]}
    content = post(server, body).json()["choices"][0]["message"]["content"]
    assert json.loads(content)["is_fix"] is False


def test_one_finding_for_each_file(server):
    item = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "last": {"type": "integer"}},
    }
    schema = {"properties": {"findings": {"type": "array", "items": item}}}
    body = wanting(schema) | {"messages": [{"role": "user", "content": "FILE: a.py\n\nFILE: b.py"}]}
    found = json.loads(post(server, body).json()["choices"][0]["message"]["content"])["findings"]
    assert [(f["path"], f["last"]) for f in found] == [("a.py", 1), ("b.py", 1)]


def test_the_same_chat_answer_comes_as_a_stream(server):
    whole = post(server, CHAT).json()
    body = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
    chunks = events(post(server, body).text)
    said = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks[:-1])
    assert said == whole["choices"][0]["message"]["content"]
    assert chunks[-1]["usage"] == whole["usage"]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


SCRIPTED = Reply(
    content="done",
    reasoning="hm",
    tool_calls=[Tool("bash", {"command": "ls"}, id="call_a")],
    usage=Tokens(input=10, cache_read=4, cache_write=2, output=7, reasoning=3),
)


def test_responses_whole_and_streamed(server):
    server.answer(lambda body: SCRIPTED)
    body = {"model": "m", "input": "hello", "stream": False}
    whole = post(server, body, "/v1/responses").json()
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message", "function_call"]
    assert whole["usage"]["input_tokens"] == 16
    assert whole["usage"]["input_tokens_details"] == {"cached_tokens": 4}
    told = events(post(server, body | {"stream": True}, "/v1/responses").text)
    assert told[-1]["type"] == "response.completed"
    assert told[-1]["response"]["usage"] == whole["usage"]
    done = [event["item"] for event in told if event["type"] == "response.output_item.done"]
    assert done[-1]["arguments"] == '{"command": "ls"}'


def test_messages_whole_streamed_and_counted(server):
    server.answer(lambda body: SCRIPTED)
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    whole = post(server, body, "/v1/messages").json()
    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "tool_use"]
    assert whole["usage"]["cache_creation_input_tokens"] == 2
    told = events(post(server, body | {"stream": True}, "/v1/messages").text)
    assert told[0]["message"]["usage"]["input_tokens"] == 10
    assert told[-2]["usage"] == {"output_tokens": 7}
    parts = [e["delta"].get("partial_json", "") for e in told if e["type"] == "content_block_delta"]
    assert "".join(parts) == '{"command": "ls"}'
    assert post(server, body, "/v1/messages/count_tokens").json() == {"input_tokens": 2}


def test_gemini_whole_and_streamed(server):
    server.answer(lambda body: SCRIPTED)
    body = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    whole = post(server, body, "/v1beta/models/m:generateContent").json()
    assert whole["modelVersion"] == "m-served"
    assert whole["usageMetadata"]["promptTokenCount"] == 16
    assert whole["usageMetadata"]["candidatesTokenCount"] == 4
    streamed = post(server, body, "/v1beta/models/m:streamGenerateContent?alt=sse").text
    last = events(streamed)[-1]
    assert last["usageMetadata"] == whole["usageMetadata"]
    assert last["candidates"][0]["finishReason"] == "STOP"


def test_forced_tools_get_arguments_that_fit(server):
    tool = {"type": "function", "function": {"name": "submit", "parameters": SCHEMA}}
    call = post(server, CHAT | {"tools": [tool]}).json()["choices"][0]["message"]["tool_calls"][0]
    jsonschema.validate(json.loads(call["function"]["arguments"]), SCHEMA)


def test_content_faults_are_consumed_in_order_and_then_over(server):
    server.fail(
        Fault.wrong_json, Fault.not_json_content, Fault.empty(), Fault.length(), Fault.refusal(),
        Fault.reasoning_only(), Fault.tool_call(), Fault.content_filter(), Fault.cut_json(),
    )  # fmt: skip
    choices = [post(server, wanting(SCHEMA)).json()["choices"][0] for _ in range(10)]
    messages = [choice["message"] for choice in choices]
    assert messages[0]["content"] == '{"unexpected": true}'
    assert messages[2]["content"] == ""
    assert choices[3]["finish_reason"] == "length"
    assert messages[4]["refusal"] and messages[4]["content"] is None
    assert messages[5]["reasoning_content"] and messages[5]["content"] is None
    assert choices[6]["finish_reason"] == "tool_calls"
    assert choices[7]["finish_reason"] == "content_filter"
    assert choices[8]["finish_reason"] == "stop"
    jsonschema.validate(json.loads(messages[9]["content"]), SCHEMA)
    assert len(server.bought) == 10


@pytest.mark.parametrize("stream", [False, True])
def test_a_half_answer_and_a_drop_are_not_bought(server, stream):
    server.fail(Fault.half_answer(), Fault.drop())
    for _ in range(2):
        with pytest.raises(httpx.RemoteProtocolError):
            post(server, CHAT | {"stream": stream})
    assert post(server, CHAT).status_code == 200
    assert server.bought == [CHAT]


def test_statuses_are_in_the_protocols_own_form(server):
    server.fail(*[Fault.status(429, retry_after=3) for _ in range(3)], Fault.status(500))
    assert post(server, CHAT).headers["Retry-After"] == "3"
    assert post(server, CHAT, "/v1/messages").json()["error"]["type"] == "rate_limit_error"
    gemini = post(server, {}, "/v1beta/models/m:generateContent").json()
    assert gemini["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert post(server, CHAT).status_code == 500
    assert server.bought == []


def test_a_hanging_answer_ends_with_the_server(server):
    server.fail(Fault.hang())
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(server.openai + "/chat/completions", json=CHAT, timeout=0.2)
    server.close()
    server.start()
    assert post(server, CHAT).status_code == 200


def test_latency_slow_streams_and_a_client_that_goes(server):
    server.fail(Fault.latency(0.3), Fault.slow_stream(0.2), Fault.slow_stream(0.2))
    started = time.monotonic()
    assert post(server, CHAT).status_code == 200
    assert time.monotonic() - started >= 0.3
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(server.openai + "/chat/completions", json=CHAT, timeout=0.1)
    assert post(server, CHAT).status_code == 200
    assert len(server.bought) == 2


def test_beyond_its_limit_it_says_when_to_come_back(server):
    server.rpm_limit, server.rpm_window_s = 2, 0.5
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: post(server, CHAT).status_code, range(4)))
    assert sorted(codes) == [200, 200, 429, 429]
    time.sleep(0.5)
    assert post(server, CHAT).status_code == 200


def test_keys_are_checked_where_a_test_sets_one():
    with ModelServer(api_key="sk-right") as server:
        assert post(server, CHAT).status_code == 401
        assert post(server, CHAT, headers={"Authorization": "Bearer sk-right"}).status_code == 200
        assert post(server, CHAT, "/v1/messages", headers={"x-api-key": "sk-right"}).is_success


def test_a_failing_answering_function_is_kept_for_the_test(server):
    server.answer(lambda body: body["missing"])
    assert post(server, CHAT).status_code == 500
    assert isinstance(server.errors[0], KeyError)


def test_by_itself_it_logs_every_whole_answer(tmp_path):
    log = tmp_path / "answers.jsonl"
    command = [sys.executable, "-m", "modelserver", "--port", "0", "--log", str(log)]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        httpx.post(f"{url}/chat/completions", json=CHAT, timeout=10)
        process.terminate()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["path"] for line in lines] == ["/v1/chat/completions"]
    assert len(lines[0]["sha256"]) == 64
