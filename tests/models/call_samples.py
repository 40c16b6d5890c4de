"""Calls as records, without a model: small, valid, each with the key of its own request."""

from datetime import UTC, datetime

from probe.records import Answer, Call, Usage, content_sha256

NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)


def sample_call(text="hello", *, model="openai/stub", usd=0.25, answer=None, **request) -> Call:
    asked = {
        "settings": {"litellm_id": model, "max_output_tokens": 100},
        "messages": [{"role": "user", "content": text}],
        "schema": None,
        "tools": [],
        "sample": 1,
        **request,
    }
    return Call(
        key=content_sha256(asked),
        request=asked,
        answer=answer or Answer(content=f"re: {text}", finish_reason="stop"),
        served_model=f"{model}-served",
        usage=Usage(calls=1, attempts=1, input_tokens=30, output_tokens=12, usd=usd),
        raw_usage={"prompt_tokens": 30, "completion_tokens": 12},
        latency_s=0.5,
        time=NOON,
        probe_version="0.1.0",
    )
