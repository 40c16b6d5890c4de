"""What the agent of stage presence is told of a candidate.

Nothing in it depends on the repository's key, the block or the results folder: the same candidate
at the same snapshot is the same question.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from probe.agent.tools import tool_specs
from probe.errors import ModelError
from probe.models.base import Model
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import Candidate, Location
from probe.reference.classify_text import clean, cut_middle
from probe.reference.presence_answer import PresenceAnswer
from probe.reference.presence_box import HISTORY

TITLE_TOKENS = 200
"""Tokens of a title, at most."""
CAUSE_TOKENS = 1_000
"""Tokens of a root cause, at most."""
CLUE_TOKENS = 300
"""Tokens of what blame says, at most."""
DIFF_TOKENS = 6_000
"""Tokens of the fix's diff, at most: the agent can read all of it in the history."""
MAX_PLACES = 20
"""Places of one kind that are listed."""
_WORK_TOKENS = 4_000
"""Tokens that must be left for the work itself."""
_PLACE_TOKENS = 60 * MAX_PLACES


@dataclass(frozen=True)
class Revisions:
    """The commits that matter for a candidate."""

    t0: str
    """The snapshot commit."""
    parent: str | None
    """The fix commit's first parent; None for a root commit."""
    fix: str
    """The fix commit."""


def presence_texts(prompt: Prompt, candidate: Candidate, revisions: Revisions) -> tuple[str, str]:
    """System and user message for a candidate.

    Raises:
        ConfigError: the prompt names a variable that there is not.
    """
    lineage = candidate.lineage
    clue = "none: blame could not be followed"
    if lineage is not None:
        side = f"against presence ({lineage.ground})" if lineage.ground else "for presence"
        clue = f"speaks {side}, confidence {lineage.confidence:.2f}: {lineage.rationale}"
    return _texts(
        prompt,
        t0=revisions.t0,
        parent=revisions.parent or "none: the fix is a root commit",
        fix=revisions.fix,
        title=cut_middle(clean(candidate.title), TITLE_TOKENS),
        root_cause=cut_middle(clean(candidate.root_cause), CAUSE_TOKENS),
        parent_places=_places(candidate.parent_locations),
        insertion_points=_places(candidate.insertion_points),
        snapshot_places=_places(candidate.snapshot_locations),
        clue=cut_middle(clean(clue), CLUE_TOKENS),
        diff=cut_middle(clean(candidate.suggested_fix), DIFF_TOKENS),
    )


def check_presence_room(model: Model, prompt: Prompt) -> None:
    """Say early that a model's window leaves an agent no room to work.

    Raises:
        ModelError: it does not; the message says how large it must be.
    """
    names = ("t0", "parent", "fix", "title", "root_cause", "parent_places", "insertion_points")
    empty = dict.fromkeys((*names, "snapshot_places", "clue", "diff"), "")
    messages = [{"content": text} for text in _texts(prompt, **empty)]
    fixed = prompt_tokens(messages, tools=tool_specs(PresenceAnswer, final=False))
    given = TITLE_TOKENS + CAUSE_TOKENS + CLUE_TOKENS + DIFF_TOKENS + 3 * _PLACE_TOKENS + 200
    needed, room = fixed + given + _WORK_TOKENS, model.entry.prompt_room
    if needed > room:
        raise ModelError(
            f"model {model.name!r} has room for a prompt of {room} tokens (context_tokens less "
            f"max_output_tokens), but the agent of stage presence needs {needed}; name a model with "
            "a larger window for reference.presence.engine"
        )


def _texts(prompt: Prompt, **variables: str) -> tuple[str, str]:
    system, user = prompt.messages(history=HISTORY, **variables)
    return str(system["content"]), str(user["content"])


def _places(places: Sequence[Location]) -> str:
    listed = [f"- {place.path}:{place.first}-{place.last}" for place in places[:MAX_PLACES]]
    if len(places) > MAX_PLACES:
        listed.append(f"- and {len(places) - MAX_PLACES} more")
    return "\n".join(listed) or "- none"
