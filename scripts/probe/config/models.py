"""The models that runs and stages can name (``models.yaml``)."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from probe.config.base import Section

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

_USD = Annotated[float, Field(ge=0)]


class Price(Section):
    """US dollars for a million tokens, and the day on which somebody looked them up."""

    input: _USD
    """Prompt tokens that the provider's cache has no part in."""
    output: _USD
    """Output tokens; reasoning tokens are among them and are priced once."""
    cache_read: _USD | None = None
    """Prompt tokens read from the provider's cache; without it, as `input`."""
    cache_write: _USD | None = None
    """Prompt tokens written to the provider's cache; without it, as `input`."""
    as_of: Annotated[date, Field(strict=False)]
    """The day of the price, `2026-12-01`."""


def _free_or_prices(value: object) -> object:
    if value is None or value == "free" or isinstance(value, Mapping | Price):
        return value
    raise ValueError(
        f"found {value!r}, expected free, or a mapping with input, output and as_of "
        "(US dollars for a million tokens)"
    )


class Supports(Section):
    """What a model's interface offers; what it lacks is done in the prompt."""

    json_schema: bool | Literal["json_object"] = True
    """Answers constrained by a JSON schema; `json_object` for servers that take it in the older form
    (llama-cpp-python), `false` for those that take none."""
    tools: bool = True
    """Native tool calls."""


class ModelEntry(Section):
    """One model. A server of your own needs a line only:
    `mine: {litellm_id: openai/NAME, api_base: "http://127.0.0.1:8000/v1", price: free}`.
    """

    litellm_id: str = Field(min_length=1, pattern=r"^[^/\s]+/\S+$")
    """The provider and its name of the model, as litellm spells them: `openai/gpt-5.6-luna`; a
    server with OpenAI's protocol is `openai/NAME`."""
    api_base: str | None = Field(default=None, pattern=r"^https?://\S+$")
    """Address of the server; without it, the provider's own."""
    key_env: str | None = Field(default=None, pattern=r"^[A-Z_][A-Z0-9_]*$")
    """Environment variable that holds the key; none for a server that asks for none."""
    revision: str | None = None
    """Free text that is part of every request's identity: change it when the weights behind the
    same name change, and nothing recorded before is used again."""
    price: Annotated[Price | Literal["free"] | None, BeforeValidator(_free_or_prices)] = None
    """Prices, or `free` for a server that costs nothing; without it the model is never asked."""
    effort: Effort | None = None
    """Reasoning effort; without it, the provider's default."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature; without it, the provider's default."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    """Nucleus sampling; without it, the provider's default."""
    seed: int | None = None
    """Seed of the sampling, where the provider takes one."""
    context_tokens: int = Field(default=32_768, ge=1_024)
    """Tokens of prompt and answer together, at most."""
    max_output_tokens: int = Field(default=8_192, ge=16)
    """Tokens of one answer, reasoning included, at most: always sent, so that no answer runs away."""
    cutoff: str | None = Field(default=None, pattern=r"^\d{4}-\d{2}(-\d{2})?$")
    """Published knowledge cut-off, `2026-05`; none where nothing is published."""
    rpm: Annotated[int, Field(ge=1)] | None = None
    """Requests a minute, at most, over all processes that share the cache folder."""
    tpm: Annotated[int, Field(ge=1)] | None = None
    """Tokens a minute, at most, over all processes that share the cache folder."""
    concurrency: int = Field(default=8, ge=1, le=1_024)
    """Calls in flight of one process, at most; backs off by itself, and `probe tune` changes it."""
    timeout_s: float = Field(default=600, gt=0)
    """Seconds for one attempt from sending to the last byte."""
    max_attempts: int = Field(default=6, ge=1)
    """Attempts of one call, the first included; only for failures that can pass."""
    supports: Supports = Supports()
    """What the interface offers."""

    @property
    def free(self) -> bool:
        """Whether the model costs nothing, in words of the configuration."""
        return self.price == "free"

    @property
    def prompt_room(self) -> int:
        """Tokens that a prompt may have beside an answer of full length."""
        return self.context_tokens - self.max_output_tokens

    def answer_settings(self) -> dict[str, object]:
        """What can change an answer, as JSON values; prices, pace and addresses cannot.

        Rules carry it as a parameter, and requests as part of their identity.
        """
        kept = ("litellm_id", "revision", "effort", "temperature", "top_p", "seed")
        settings = self.model_dump(mode="json", include={*kept, "max_output_tokens", "supports"})
        return {key: value for key, value in settings.items() if value is not None}

    @model_validator(mode="after")
    def _room_for_a_prompt(self) -> "ModelEntry":
        if self.max_output_tokens >= self.context_tokens:
            raise ValueError(
                f"max_output_tokens {self.max_output_tokens} leaves no room for a prompt in "
                f"context_tokens {self.context_tokens}; lower the first or correct the second"
            )
        return self
