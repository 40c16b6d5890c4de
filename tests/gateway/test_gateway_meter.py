"""Usage is read out of answers without touching their bytes; users_ask.md row 18."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.gateway.meter import Meter
from probe.models.prices import usage_from_provider
from probe.records import Usage


def sse(*events, end="\n\n"):
    return "".join(f"event: x\ndata: {json.dumps(event)}{end}" for event in events).encode()


CHAT = sse(
    {"model": "served", "choices": [{"delta": {"content": "a\n\nb"}}], "usage": None},
    {"model": "served", "choices": [{"delta": {}, "finish_reason": "stop"}], "usage": None},
)
CHAT_USAGE = sse(
    {
        "model": "served",
        "choices": [],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 10},
        },
    }
)
DONE = b"data: [DONE]\n\n"
RESPONSES = sse(
    {"type": "response.created", "response": {"model": "served", "usage": None}},
    {"type": "response.output_text.delta", "delta": "ü"},
    {
        "type": "response.completed",
        "response": {
            "model": "served",
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60},
                "output_tokens": 30,
                "output_tokens_details": {"reasoning_tokens": 10},
            },
        },
    },
)
MESSAGES = sse(
    {
        "type": "message_start",
        "message": {
            "model": "served",
            "usage": {
                "input_tokens": 33,
                "cache_creation_input_tokens": 7,
                "cache_read_input_tokens": 60,
                "output_tokens": 1,
            },
        },
    },
    {"type": "ping"},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 30, "input_tokens": None}},
    {"type": "message_stop"},
    end="\r\n\r\n",
)
GEMINI = sse(
    {"candidates": [{"content": {}}], "usageMetadata": {"promptTokenCount": 100}},
    {
        "candidates": [{"content": {}, "finishReason": "STOP"}],
        "modelVersion": "served",
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 60,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 10,
        },
    },
)
STREAMS = {
    "chat": CHAT + CHAT_USAGE + DONE,
    "responses": RESPONSES,
    "messages": MESSAGES,
    "gemini": GEMINI,
}
OPENAI_USAGE = Usage(input_tokens=40, cache_read_tokens=60, output_tokens=30, reasoning_tokens=10)
USAGES = {
    "chat": OPENAI_USAGE,
    "responses": OPENAI_USAGE,
    "messages": Usage(
        input_tokens=33, cache_read_tokens=60, cache_write_tokens=7, output_tokens=30
    ),
    "gemini": OPENAI_USAGE,
}


def fed(meter, data, cuts=()):
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    parts = [data[a:b] for a, b in pairwise(places)]
    return b"".join([*map(meter.feed, parts), meter.end()])


@given(st.sampled_from(list(STREAMS)), st.lists(st.integers(0, 1_000), max_size=20))
def test_however_a_stream_is_cut_it_passes_unchanged_and_says_its_usage(protocol, cuts):
    meter = Meter(protocol, events=True, adds_usage=False)
    assert fed(meter, STREAMS[protocol], cuts) == STREAMS[protocol]
    assert usage_from_provider(meter.usage) == USAGES[protocol]
    assert meter.model == "served"
    assert meter.complete


@given(st.lists(st.integers(0, 1_000), max_size=20))
def test_the_chunk_that_the_client_did_not_ask_for_is_kept_back_alone(cuts):
    meter = Meter("chat", events=True, adds_usage=True)
    assert fed(meter, STREAMS["chat"], cuts) == CHAT + DONE
    assert usage_from_provider(meter.usage) == OPENAI_USAGE
    assert meter.complete


@given(st.sampled_from(list(STREAMS)), st.integers(0, 1_000))
def test_a_cut_stream_is_not_complete(protocol, cut):
    whole = STREAMS[protocol]
    last = len(whole) - len(whole.rstrip()) + 1
    meter = Meter(protocol, events=True, adds_usage=False)
    fed(meter, whole[: min(cut, len(whole) - last - 1)])
    assert not meter.complete


@given(st.binary(max_size=300), st.sampled_from(list(STREAMS)), st.booleans(), st.booleans())
def test_nothing_that_a_server_sends_stops_the_meter(data, protocol, events, adds_usage):
    meter = Meter(protocol, events=events, adds_usage=adds_usage)
    assert fed(meter, data, range(0, 300, 7)) == data


@pytest.mark.parametrize(
    "event",
    [
        {"choices": None, "usage": [1], "model": 3},
        {"type": "response.completed", "response": "none"},
        {"message": 1, "type": 5},
        {"candidates": None, "usageMetadata": 0},
        {"candidates": 7, "usageMetadata": None},
        {"candidates": [None]},
        [],
    ],
)
@pytest.mark.parametrize("protocol", list(STREAMS))
def test_events_of_a_wrong_shape_say_nothing(protocol, event):
    meter = Meter(protocol, events=True, adds_usage=False)
    fed(meter, sse(event))
    assert meter.usage == {}


def test_one_object_says_its_usage_at_its_end():
    whole = {"model": "served", "usage": {"input_tokens": 3, "output_tokens": 4}}
    for protocol in ("responses", "messages", "chat"):
        meter = Meter(protocol, events=False, adds_usage=False)
        data = json.dumps(whole).encode()
        assert meter.feed(data[:9]) + meter.feed(data[9:]) + meter.end() == data
        assert (meter.usage, meter.model, meter.complete) == (whole["usage"], "served", True)
    cut = Meter("chat", events=False, adds_usage=False)
    fed(cut, data[:-5])
    assert (cut.usage, cut.complete) == ({}, False)
