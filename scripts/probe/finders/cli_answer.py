"""From what a command-line agent said last to an answer, strictly.

Tools hold their models to a schema more or less, or not at all. So the last message is read the same way
for all: one JSON object, alone or in one fence. Nothing is searched for in prose, and nothing that
was cut off is completed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from probe.errors import FinderError
from probe.finders.session import AuditAnswer, AuditItem, read_items
from probe.models.mend import mend, parse
from probe.records import Rejected

_SHOWN = 120
"""Characters of a message that is no answer."""


class Answer(NamedTuple):
    """What a last message comes to."""

    items: Sequence[AuditItem]
    """The findings that fit the schema."""
    rejected: Sequence[Rejected]
    """Those that do not."""
    problem: str | None
    """What does not fit, for the agent to put right; None where all fits."""


def read_answer(text: str) -> Answer:
    """The answer that a message is.

    Raises:
        FinderError: it is none: no JSON object, or one without a list of findings. The message says
            what is wrong, for the agent and for people.
    """
    try:
        value = parse(mend(text))
    except RecursionError as error:
        raise FinderError("the last message is nested too deeply") from error
    except ValueError as error:
        begins = " ".join(text.split())[:_SHOWN]
        raise FinderError(
            f"the last message is no JSON object alone ({error}); it begins: {begins}"
        ) from error
    try:
        return Answer(AuditAnswer.model_validate(value).findings, (), None)
    except ValidationError as error:
        items, rejected = read_items(value)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return Answer(items, rejected, f"{where}: {first['msg']}")
