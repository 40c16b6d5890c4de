"""The stub model as tests of the stages ask it: one call at a time, one attempt, at no cost."""

from probe.config import ModelEntry
from probe.models.base import Model


def model_at(address: str, **settings: object) -> Model:
    facts = {"litellm_id": "openai/stub-model", "api_base": address, "price": "free"}
    facts |= {"concurrency": 1, "max_attempts": 1, **settings}
    return Model("stub", ModelEntry.model_validate(facts))
