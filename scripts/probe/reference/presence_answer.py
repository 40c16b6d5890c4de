"""What the agent of stage presence hands in, and what is made of a drop that it never got right.

A drop without a ground or a citation does not pass validation, so the agent loop asks for a
correction. A drop that still lacks one after all corrections is a claim, and a claim never drops.
"""

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from probe.agent.actions import Submit, object_actions, tool_actions
from probe.records import Record
from probe.records.base import Confidence
from probe.records.history import DropGround, Overruled
from probe.records.transcript import AnswerLine, HeaderLine, read_transcript

MAX_CITATIONS = 12
"""Citations of one answer: each is executed again."""
MAX_NAMES = 12
"""Names of one answer: each is searched for."""


class Citation(Record):
    """One command that you ran and that shows a fact; it is executed again to check you."""

    command: str = Field(min_length=1)
    """The whole command line. It is run again by itself in a fresh copy of the sandbox, so it must
    not need files or variables of earlier commands."""
    exit: int
    """Its exit status."""
    output: str
    """Excerpt of what it printed, word for word; a line `...` stands for lines left out. Empty only
    when it printed nothing at all."""
    shows: str
    """The fact that this establishes, in a sentence."""


class PresenceClaim(Record):
    """An answer of the right form, whether or not it holds what its verdict needs."""

    rationale: str
    """What you established and how, in at most five sentences; for a keep in doubt also the drop
    that came closest and what it lacks."""
    verdict: Literal["keep", "drop"]
    """drop only when a ground is established and cited; otherwise keep."""
    ground: DropGround | None = None
    """Why it is dropped; null exactly for keep."""
    confidence: Confidence
    """How likely the verdict is right, from 0 to 1; 0.3 or less for a keep in doubt."""
    names: tuple[str, ...] = ()
    """For code_absent, and only there: the names without which the repaired code cannot exist, as
    they stand in the repaired code. Each is searched for in the whole snapshot."""
    citations: tuple[Citation, ...] = ()
    """The commands that your verdict rests on; at least one for a drop."""

    def lacks(self) -> Overruled | None:
        """What a drop needs and this one has not; None for a keep and for a whole drop."""
        if self.verdict == "keep":
            return None
        if self.ground is None:
            return "no ground"
        wanting = not self.citations or (self.ground == "code_absent" and not self.names)
        return "uncited" if wanting else None


class PresenceAnswer(PresenceClaim):
    """Whether the snapshot had the defect, with the commands that establish it."""

    @field_validator("names")
    @classmethod
    def _single_words(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) > MAX_NAMES:
            raise ValueError(f"at most {MAX_NAMES} names")
        for name in names:
            if not re.fullmatch(r"\S{1,200}", name):
                raise ValueError("each name is one word of the code, without spaces")
        return names

    @field_validator("citations")
    @classmethod
    def _few(cls, citations: tuple[Citation, ...]) -> tuple[Citation, ...]:
        if len(citations) > MAX_CITATIONS:
            raise ValueError(f"at most {MAX_CITATIONS} citations: those that the verdict rests on")
        return citations

    @model_validator(mode="after")
    def _drop_is_whole(self) -> Self:
        if self.verdict == "keep" and self.ground is not None:
            raise ValueError("a keep has no ground: set ground to null, or drop")
        lacking = self.lacks()
        if lacking == "no ground":
            raise ValueError("a drop needs one of the four grounds; without one, keep")
        if lacking == "uncited" and not self.citations:
            raise ValueError("a drop needs a citation of what a command printed; without, keep")
        if lacking == "uncited":
            raise ValueError("code_absent needs names: what was searched for in the snapshot")
        return self


def last_claim(transcript: Path) -> PresenceClaim | None:
    """The last submission of a pass as far as it has the right form; None where none has.

    Args:
        transcript: of a pass whose submissions were not accepted.

    Raises:
        RecordError: the transcript cannot be read.
    """
    lines = read_transcript(transcript)
    native = any(isinstance(line, HeaderLine) and line.style == "tools" for line in lines)
    read = tool_actions if native else object_actions
    said = [line.answer for line in lines if isinstance(line, AnswerLine) and line.answer]
    documents = [
        action.document for answer in said for action in read(answer) if isinstance(action, Submit)
    ]
    try:
        return PresenceClaim.model_validate_json(documents[-1]) if documents else None
    except ValidationError:
        return None
