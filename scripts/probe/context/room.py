"""Whether a model's window leaves the agent room to look around: known before anything is paid."""

from probe.agent.tools import tool_specs
from probe.context.listing import TOKENS as LISTING_TOKENS
from probe.context.submission import ContextSubmission
from probe.errors import ModelError
from probe.models.base import Model
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens

WORK_TOKENS = 8_000
"""Tokens that must be left for outputs of commands."""


def check_context_room(model: Model, prompt: Prompt, tokens: int) -> None:
    """Say early that a model's window is too small for the agent of stage context.

    Args:
        model: whom to ask.
        prompt: ``prompts/context.j2``.
        tokens: ``context.tokens``: a submission that is sent back takes as much again.

    Raises:
        ModelError: it is too small; the message says how large it must be.
        ConfigError: the prompt names a variable that there is not.
    """
    messages = prompt.messages(work="", tokens=tokens, listing="")
    fixed = prompt_tokens(messages, tools=tool_specs(ContextSubmission, final=False))
    needed = fixed + LISTING_TOKENS + tokens + WORK_TOKENS
    room = model.entry.prompt_room
    if needed > room:
        raise ModelError(
            f"model {model.name!r} has room for a prompt of {room} tokens (context_tokens less "
            f"max_output_tokens), but the agent of stage context needs {needed}; name a model with a "
            "larger window for context.engine, or lower context.tokens"
        )
