"""What the gateway's suites share: a model with a price and a secret key, and waiting."""

import time

from modelserver import ModelServer

from probe.config import ModelEntry
from probe.models.base import Model

KEY = "sk-real-0123456789abcdefghij"
KEY_ENV = "GATEWAY_SUITE_SECRET_PLACE"
PRICE = {"input": 2.0, "cache_read": 0.2, "cache_write": 2.5, "output": 10.0, "as_of": "2026-12-01"}
NAMES = {"openai": "gpt-real", "anthropic": "claude-real", "gemini": "gemini-real"}


def model_at(server: ModelServer, provider: str, **settings: object) -> Model:
    """A priced model of a provider, at the test server."""
    bases = {"openai": server.openai, "anthropic": server.url, "gemini": f"{server.url}/v1beta"}
    values = {
        "litellm_id": f"{provider}/{NAMES[provider]}",
        "api_base": bases[provider],
        "key_env": KEY_ENV,
        "price": PRICE,
        "max_output_tokens": 1_000,
    }
    return Model("tested", ModelEntry.model_validate(values | settings))


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.01)
