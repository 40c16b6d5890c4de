"""The same client through litellm's other dialects, on the same server."""

import pytest
from asking import PRICE, Verdict, client, questions, request
from modelserver import Fault, Reply, Tokens

from probe.config import ModelEntry
from probe.models.base import Model, Request
from probe.models.ledger import Ledger

# litellm builds Pydantic types from Google's, and Pydantic has a remark on them
pytestmark = pytest.mark.filterwarnings("ignore:Items .* ReadOnly:UserWarning")

TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


PROVIDERS = {
    "anthropic/claude-opus-4-6": "/v1/messages",
    "gemini/gemini-3-pro-preview": "/models/gemini-3-pro-preview:generateContent",
    "openai/responses/gpt-5.6-luna": "/v1/responses",
    "openrouter/vendor/model": "/v1/chat/completions",
}


@pytest.fixture(params=PROVIDERS)
def model(request, server):
    chat = request.param.startswith("open")
    entry = ModelEntry(
        litellm_id=request.param,
        api_base=server.openai if chat else server.url,
        price=PRICE,
        max_attempts=2,
        timeout_s=5,
        max_output_tokens=1_000,
    )
    return Model("m", entry)


def test_a_call_and_its_cost(tmp_path, server, model):
    server.answer(lambda _: Reply(content="hi", usage=Tokens(input=1_000, output=500)))
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(model))
    assert outcome.answer.content == "hi"
    assert outcome.answer.finish_reason == "stop"
    assert server.requests[0].path == PROVIDERS[model.entry.litellm_id]
    assert (outcome.call.usage.input_tokens, outcome.call.usage.output_tokens) == (1_000, 500)
    assert outcome.call.usage.usd == pytest.approx(0.002)


def test_a_tool_call(tmp_path, server, model):
    calls = [{"name": "bash", "arguments": {"command": "ls"}}]
    server.answer(lambda _: Reply(tool_calls=calls))
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(model, tools=(TOOL,)))
    (call,) = outcome.answer.tool_calls
    assert (call.name, call.arguments.replace(" ", "")) == ("bash", '{"command":"ls"}')


def test_signed_thinking_is_handed_back_and_a_conversation_is_cached(tmp_path, server):
    entry = ModelEntry(
        litellm_id="anthropic/claude-opus-4-6", api_base=server.url, price=PRICE, effort="low",
        max_output_tokens=4_000,
    )  # fmt: skip
    model = Model("m", entry)
    calls = [{"name": "bash", "arguments": {"command": "ls"}}]
    server.answer(lambda _: Reply(tool_calls=calls, reasoning="Let me look."))
    first = [{"role": "system", "content": "Look."}, {"role": "user", "content": "Now."}]
    with client(tmp_path, 1.0) as made:
        answer = made.call(Request(model, first, tools=(TOOL,))).answer
        (call,) = answer.tool_calls
        said = {"id": call.id, "type": "function"} | {
            "function": {"name": call.name, "arguments": call.arguments}
        }
        turn = {"role": "assistant", "content": None, "tool_calls": [said]} | answer.returned
        result = {"role": "tool", "tool_call_id": call.id, "content": "a.py"}
        made.call(Request(model, [*first, turn, result], tools=(TOOL,)))
    once, again = (received.body for received in server.requests)
    assert "cache_control" not in str(once)
    thinking, used = again["messages"][1]["content"]
    assert (thinking["type"], thinking["thinking"]) == ("thinking", "Let me look.")
    assert thinking["signature"]
    assert used["type"] == "tool_use"
    assert again["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" in str(again["system"])


def test_an_answer_with_a_schema(tmp_path, server, model):
    server.answer(lambda _: {"is_fix": True, "confidence": 0.5})
    with client(tmp_path, 1.0) as made:
        (reply,) = made.ask(model, questions(1), Verdict, purpose="test")
    assert reply.value == Verdict(is_fix=True, confidence=0.5)
    assert "confidence" in str(
        {name: part for name, part in server.requests[0].body.items() if name != "messages"}
    )


@pytest.mark.parametrize(
    ("fault", "kind", "attempts"),
    [
        (Fault.status(401), "auth", 1),
        (Fault.status(400), "bad_request", 1),
        (Fault.status(429, retry_after=0), "rate_limited", 2),
        (Fault.status(500), "server_error", 2),
        (Fault.drop(), "connection", 2),
        (Fault.not_protocol(), "malformed", 2),
    ],
)
def test_faults_have_the_same_names_everywhere(tmp_path, server, model, fault, kind, attempts):
    server.fail(fault, fault)
    with client(tmp_path, 1.0) as made:
        outcome = made.call(request(model))
    assert outcome.failure.kind == kind, outcome.failure.detail
    assert outcome.attempts == server.count() == attempts
    assert (Ledger(tmp_path, 1.0).totals().uncertain == 0) == (kind in FREE)


FREE = {"auth", "bad_request", "rate_limited", "server_error"}


def test_a_setting_that_a_provider_lacks_is_named(tmp_path, server):
    entry = ModelEntry(
        litellm_id="anthropic/claude-opus-4-6", api_base=server.url, price="free", seed=7
    )
    with client(tmp_path) as made:
        outcome = made.call(request(Model("m", entry)))
    assert outcome.failure.kind == "bad_request"
    assert "seed" in outcome.failure.detail
    assert "models.yaml" in outcome.failure.detail
    assert "drop_params" not in outcome.failure.detail
    assert server.count() == 0


def test_openai_itself_gets_its_own_name_of_the_limit():
    from probe.models.transport import call_parameters

    entry = ModelEntry(litellm_id="openai/gpt-5.6-luna", price=PRICE, max_output_tokens=77)
    parameters = call_parameters(request(Model("m", entry)))
    assert parameters["max_completion_tokens"] == 77
    assert "max_tokens" not in parameters
