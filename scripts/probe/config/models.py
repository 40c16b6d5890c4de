"""The models that runs and stages can name (``models.yaml``)."""

from pydantic import Field

from probe.config.base import Section


class ModelEntry(Section):
    """One model; no engine or finder of this version asks one."""

    litellm_id: str = Field(min_length=1)
    """The provider's full name of the model, as litellm spells it."""
