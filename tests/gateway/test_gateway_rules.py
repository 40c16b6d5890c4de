"""Rules for requests: what is taken out, what is refused, what is forced; users_ask.md rows 1, 24, 41."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.config import ModelEntry
from probe.errors import ModelError
from probe.gateway.routes import Upstream, error_body, find_route, upstream_of
from probe.gateway.screen import RefusalError, screen
from probe.models.base import Model

ENTRY = ModelEntry(litellm_id="openai/real", price="free", max_output_tokens=1_000)
UPSTREAM = Upstream("openai", "http://127.0.0.1:1/v1", "real", None)
OPENAI = Upstream("openai", "https://api.openai.com/v1", "real", None)
PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "gemini": "/v1beta/models/asked:streamGenerateContent",
}
LOCAL = {
    "chat": {"type": "function", "function": {"name": "bash"}},
    "responses": {"type": "function", "name": "bash", "parameters": {}},
    "messages": {"name": "bash", "input_schema": {"type": "object"}},
    "gemini": {"functionDeclarations": [{"name": "bash"}]},
}
REMOTE = [
    ("chat", {"type": "web_search"}, "web_search"),
    ("responses", {"type": "web_search"}, "web_search"),
    ("responses", {"type": "web_search_preview_2025_03_11"}, "web_search_preview_2025_03_11"),
    ("responses", {"type": "file_search", "vector_store_ids": ["v"]}, "file_search"),
    ("responses", {"type": "code_interpreter", "container": {"type": "auto"}}, "code_interpreter"),
    ("responses", {"type": "mcp", "server_url": "https://x.example"}, "mcp"),
    ("responses", {"type": "computer_use_preview"}, "computer_use_preview"),
    ("responses", {"type": "image_generation"}, "image_generation"),
    ("responses", {"type": "shell", "environment": {"type": "container_auto"}}, "shell"),
    ("responses", {"type": "shell"}, "shell"),
    ("responses", {"type": "browse_2029"}, "browse_2029"),
    ("messages", {"type": "web_search_20250305", "name": "web_search"}, "web_search_20250305"),
    ("messages", {"type": "web_fetch_20250910", "name": "web_fetch"}, "web_fetch_20250910"),
    ("messages", {"type": "code_execution_20250825", "name": "c"}, "code_execution_20250825"),
    ("messages", {"type": "mcp_toolset", "mcp_server_name": "m"}, "mcp_toolset"),
    ("messages", {"type": "computer_20250124", "name": "computer"}, "computer_20250124"),
    ("gemini", {"googleSearch": {}}, "googleSearch"),
    ("gemini", {"google_search_retrieval": {}}, "google_search_retrieval"),
    ("gemini", {"urlContext": {}}, "urlContext"),
    ("gemini", {"codeExecution": {}}, "codeExecution"),
    ("gemini", {"googleMaps": {}}, "googleMaps"),
]


def screened(protocol, body, upstream=UPSTREAM):
    route = find_route("POST", PATHS[protocol])
    return screen(route, copy.deepcopy(body), ENTRY, upstream)


@pytest.mark.parametrize(("protocol", "tool", "name"), REMOTE)
def test_a_tool_of_the_provider_is_taken_out_beside_others(protocol, tool, name):
    done = screened(protocol, {"model": "asked", "tools": [tool, LOCAL[protocol]]})
    assert done.body["tools"] == [LOCAL[protocol]]
    assert done.stripped == [name]


@pytest.mark.parametrize(("protocol", "tool", "name"), REMOTE)
def test_a_tool_of_the_provider_alone_is_refused_by_name(protocol, tool, name):
    with pytest.raises(RefusalError) as caught:
        screened(protocol, {"tools": [tool]})
    assert caught.value.code == "server_tool"
    assert name in caught.value.message


@pytest.mark.parametrize(
    ("protocol", "tool", "choice"),
    [
        ("responses", {"type": "web_search"}, {"type": "web_search"}),
        (
            "messages",
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "tool", "name": "web_search"},
        ),
    ],
)
def test_insisting_on_a_tool_of_the_provider_is_refused(protocol, tool, choice):
    with pytest.raises(RefusalError) as caught:
        screened(protocol, {"tools": [tool, LOCAL[protocol]], "tool_choice": choice})
    assert caught.value.code == "server_tool"


@pytest.mark.parametrize(
    ("protocol", "tool"),
    [
        ("chat", {"type": "custom", "custom": {"name": "patch"}}),
        ("responses", {"type": "custom", "name": "apply_patch"}),
        ("responses", {"type": "local_shell"}),
        ("responses", {"type": "shell", "environment": {"type": "local"}}),
        ("messages", {"type": "bash_20250124", "name": "bash"}),
        ("messages", {"type": "text_editor_20250728", "name": "e"}),
        ("messages", {"type": "custom", "name": "x", "input_schema": {}}),
        ("gemini", {"function_declarations": [{"name": "bash"}]}),
    ],
)
def test_tools_that_run_at_the_client_pass(protocol, tool):
    assert screened(protocol, {"tools": [tool]}).body["tools"] == [tool]


def test_tools_are_found_in_namespaces_and_in_earlier_turns():
    space = {"type": "namespace", "name": "n", "tools": [{"type": "mcp"}, LOCAL["responses"]]}
    turn = {"type": "tool_search_output", "tools": [{"type": "web_search"}, LOCAL["responses"]]}
    done = screened("responses", {"tools": [space], "input": [turn]})
    assert done.body["tools"] == [{**space, "tools": [LOCAL["responses"]]}]
    assert done.body["input"][0]["tools"] == [LOCAL["responses"]]
    assert done.stripped == ["web_search", "mcp"]


def test_one_gemini_entry_can_hold_both_kinds():
    both = {"functionDeclarations": [{"name": "bash"}], "urlContext": {}}
    done = screened("gemini", {"tools": [both]})
    assert done.body["tools"] == [LOCAL["gemini"]]
    assert done.stripped == ["urlContext"]


@given(
    st.sampled_from(list(PATHS)),
    st.lists(
        st.one_of(
            st.text(max_size=5),
            st.none(),
            st.dictionaries(
                st.sampled_from(["type", "name", "environment", "tools", "googleSearch"]),
                st.one_of(st.text(max_size=20), st.none(), st.lists(st.text(), max_size=1)),
                max_size=4,
            ),
            st.sampled_from([tool for _, tool, _ in REMOTE]),
            st.sampled_from(list(LOCAL.values())),
        ),
        max_size=6,
    ),
)
def test_no_list_of_tools_brings_a_tool_of_the_provider_through(protocol, tools):
    try:
        kept = screened(protocol, {"tools": tools}).body.get("tools") or []
    except RefusalError as refused:
        assert refused.code == "server_tool"
        return
    remote = [tool for of, tool, _ in REMOTE if of == protocol]
    assert not [tool for tool in kept if tool in remote or not isinstance(tool, dict)]
    assert all(tool in tools or protocol in ("responses", "gemini") for tool in kept)


KEYS = [
    *("model", "messages", "input", "contents", "system", "tools", "tool_choice", "n", "stream"),
    *("stream_options", "max_tokens", "generationConfig", "thinking", "budget_tokens", "reasoning"),
    *("content", "parts", "image_url", "url", "source", "type", "file", "thinkingConfig", "x"),
    *("previous_response_id", "cachedContent", "background"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**6) | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(st.sampled_from(list(PATHS)), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8))
def test_any_body_passes_or_is_refused_with_its_limits_set(protocol, body):
    try:
        done = screened(protocol, body).body
    except RefusalError as refused:
        assert refused.status == 400
        return
    json.dumps(done)
    holder = done["generationConfig"] if protocol == "gemini" else done
    tokens = [holder[key] for key in holder if key in LONGEST[protocol]]
    assert tokens
    assert all(isinstance(number, int) and number <= 1_000 for number in tokens)
    assert protocol == "gemini" or done["model"] == "real"


LONGEST = {
    "chat": ("max_tokens", "max_completion_tokens"),
    "responses": ("max_output_tokens",),
    "messages": ("max_tokens",),
    "gemini": ("maxOutputTokens",),
}


@pytest.mark.parametrize(
    ("protocol", "key", "value"),
    [
        ("chat", "web_search_options", {}),
        ("chat", "plugins", [{"id": "web"}]),
        ("chat", "search_parameters", {"mode": "on"}),
        ("chat", "models", ["dearer"]),
        ("chat", "service_tier", "priority"),
        ("responses", "service_tier", "priority"),
        ("messages", "mcp_servers", [{"url": "https://x.example"}]),
        ("messages", "container", "c"),
        ("messages", "speed", "fast"),
    ],
)
def test_settings_that_search_or_cost_more_are_taken_out(protocol, key, value):
    done = screened(protocol, {key: value})
    assert key not in done.body
    assert done.stripped == [key]


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("responses", {"background": True}),
        ("responses", {"previous_response_id": "r"}),
        ("responses", {"conversation": "c"}),
        ("responses", {"prompt": {"id": "p"}}),
        ("gemini", {"cachedContent": "cachedContents/x"}),
        ("gemini", {"cached_content": "cachedContents/x"}),
    ],
)
def test_what_the_provider_has_stored_is_refused(protocol, body):
    with pytest.raises(RefusalError) as caught:
        screened(protocol, body)
    assert caught.value.code == "stored_state"


URL = "https://example.org/fix.png"


@pytest.mark.parametrize(
    ("protocol", "block"),
    [
        ("chat", {"type": "image_url", "image_url": {"url": URL}}),
        ("chat", {"type": "file", "file": {"file_id": "f"}}),
        ("responses", {"type": "input_image", "image_url": URL}),
        ("responses", {"type": "input_file", "file_url": URL}),
        ("responses", {"type": "input_file", "file_id": "f"}),
        ("responses", {"type": "item_reference", "id": "i"}),
        ("messages", {"type": "image", "source": {"type": "url", "url": URL}}),
        ("messages", {"type": "document", "source": {"type": "file", "file_id": "f"}}),
        (
            "messages",
            {"type": "tool_result", "content": [{"source": {"type": "url", "url": URL}}]},
        ),
        ("gemini", {"fileData": {"fileUri": URL}}),
        ("gemini", {"file_data": {"file_uri": URL}}),
    ],
)
def test_what_the_provider_would_fetch_is_refused(protocol, block):
    key = {"chat": "messages", "responses": "input", "gemini": "contents"}.get(protocol, "messages")
    inner = "parts" if protocol == "gemini" else "content"
    with pytest.raises(RefusalError) as caught:
        screened(protocol, {key: [{"role": "user", inner: [block]}]})
    assert caught.value.code == "link"


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("chat", {"messages": [{"content": [{"image_url": {"url": "data:image/png;base64,x"}}]}]}),
        ("chat", {"messages": [{"content": [{"file": {"file_data": "data:x"}}]}]}),
        (
            "messages",
            {"messages": [{"content": [{"type": "tool_use", "input": {"file_id": "x"}}]}]},
        ),
        ("messages", {"messages": [{"content": [{"source": {"type": "base64", "data": "x"}}]}]}),
        ("gemini", {"contents": [{"parts": [{"functionCall": {"args": {"file_url": "x"}}}]}]}),
        ("gemini", {"contents": [{"parts": [{"inlineData": {"data": "x"}}]}]}),
    ],
)
def test_inline_content_and_arguments_of_tools_pass(protocol, body):
    done = screened(protocol, body)
    key = next(iter(body))
    assert done.body[key] == body[key]
    assert done.stripped == []


@pytest.mark.parametrize("body", [{"n": 2}, {"generationConfig": {"candidateCount": 3}}])
def test_several_answers_a_call_are_refused(body):
    with pytest.raises(RefusalError):
        screened("chat" if "n" in body else "gemini", body)


@pytest.mark.parametrize(
    ("protocol", "body", "key", "tokens"),
    [
        ("chat", {}, "max_tokens", 1_000),
        ("chat", {"max_tokens": 32_000}, "max_tokens", 1_000),
        ("chat", {"max_completion_tokens": 20}, "max_completion_tokens", 20),
        ("responses", {}, "max_output_tokens", 1_000),
        ("messages", {"max_tokens": 32_000}, "max_tokens", 1_000),
        ("messages", {"max_tokens": 1}, "max_tokens", 1),
    ],
)
def test_an_answer_is_never_longer_than_the_entry_says(protocol, body, key, tokens):
    assert screened(protocol, body).body[key] == tokens


def test_openais_own_interface_wants_the_newer_name_of_the_longest_answer():
    assert screened("chat", {}, OPENAI).body["max_completion_tokens"] == 1_000


def test_geminis_longest_answer_and_a_thinking_budget_fit():
    asked = {"generationConfig": {"maxOutputTokens": 9_000, "topK": 1}}
    assert screened("gemini", asked).body["generationConfig"]["maxOutputTokens"] == 1_000
    assert screened("gemini", {}).body["generationConfig"] == {"maxOutputTokens": 1_000}
    thinking = {"max_tokens": 9_000, "thinking": {"type": "enabled", "budget_tokens": 8_000}}
    assert screened("messages", thinking).body["thinking"]["budget_tokens"] == 999


def test_the_model_is_the_configured_one_whatever_is_asked():
    done = screened("messages", {"model": "dearer"})
    assert (done.body["model"], done.asked_model) == ("real", "dearer")
    gemini = screened("gemini", {"model": "models/dearer"})
    assert "model" not in gemini.body
    assert gemini.asked_model == "asked"
    assert UPSTREAM.url(find_route("POST", PATHS["gemini"])).endswith(
        "/models/real:streamGenerateContent?alt=sse"
    )


def test_everything_else_passes_unchanged():
    body = {
        "model": "real",
        "max_tokens": 7,
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "ü\ud800"}],
        "unknown_future_setting": {"a": [1, 2.5, None]},
    }
    assert screened("messages", body).body == body


def test_a_chat_stream_is_asked_for_its_usage():
    assert screened("chat", {"stream": True}).adds_usage
    asked = screened("chat", {"stream": True, "stream_options": {"include_usage": True}})
    assert not asked.adds_usage
    assert "stream_options" not in screened("chat", {}).body


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("chat", {"reasoning_effort": "high"}),
        ("responses", {"reasoning": {"effort": "high"}}),
        ("messages", {"output_config": {"effort": "high"}}),
        ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}}),
    ],
)
def test_the_effort_that_a_client_asks_for_is_noted(protocol, body):
    assert screened(protocol, body).effort == "high"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/chat/completions"),
        ("GET", "/v1/models"),
        ("POST", "/v1/files"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/responses/../files"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1beta/models/a/../b:generateContent"),
        ("POST", "/v1beta/models/a:batchGenerateContent"),
        ("POST", "/v1beta/cachedContents"),
        ("POST", "/v1/v1/chat/completions"),
        ("POST", "/"),
    ],
)
def test_no_other_path_leads_anywhere(method, path):
    assert find_route(method, path) is None


def test_addresses_of_the_providers():
    def url(litellm_id, path, **settings):
        model = Model("m", ModelEntry(litellm_id=litellm_id, price="free", **settings))
        return upstream_of(model).url(find_route("POST", path))

    assert url("openai/a", "/responses") == "https://api.openai.com/v1/responses"
    assert url("anthropic/a", "/v1/messages/count_tokens") == (
        "https://api.anthropic.com/v1/messages/count_tokens"
    )
    assert url("anthropic/a", "/messages", api_base="http://h/v1/") == "http://h/v1/messages"
    assert url("gemini/a", "/v1/models/b:countTokens") == (
        "https://generativelanguage.googleapis.com/v1beta/models/a:countTokens"
    )
    assert url("deepseek/a/b", "/chat/completions", api_base="http://h") == (
        "http://h/chat/completions"
    )
    with pytest.raises(ModelError, match=r"^models.yaml: m: .*deepseek; add `api_base"):
        upstream_of(Model("m", ModelEntry(litellm_id="deepseek/a", price="free")))


def test_errors_have_their_protocols_form():
    assert error_body("messages", 400, "c", "m")["error"]["type"] == "invalid_request_error"
    assert error_body("gemini", 400, "c", "m")["error"]["status"] == "INVALID_ARGUMENT"
    assert json.loads(json.dumps(error_body("chat", 404, "path", "m")))["error"]["code"] == "path"
