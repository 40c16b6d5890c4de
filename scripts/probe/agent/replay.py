"""A finished pass once more, from its transcript alone: no model, no sandbox, the same result."""

from pathlib import Path

from probe import __version__
from probe.agent.edges import task_of
from probe.agent.journal import Journal
from probe.agent.loop import Session
from probe.agent.types import AgentResult, S
from probe.errors import RecordError
from probe.records.transcript import HeaderLine


def replay(transcript: Path, submit: type[S]) -> AgentResult[S]:
    """Run the loop over a transcript and hold every line against what the loop arrives at.

    The key of each request, a hash of all its text, is among what must agree: a transcript that
    replays holds all that the model was sent.

    Args:
        transcript: The file of a pass that has ended, in whatever way.
        submit: What was to be handed in.

    Raises:
        RecordError: the pass did not end, or a line differs; the message names it.
    """
    with Journal(transcript, live=False) as journal:
        first = journal.first
        if not isinstance(first, HeaderLine):
            raise RecordError(f"{transcript}:1: a transcript starts with a header")
        try:
            task, limits = task_of(first, submit)
        except RecordError as error:
            raise RecordError(f"{transcript}:1: {error}") from error
        try:
            result = Session(task, limits, first, journal).run()
            journal.finish()
        except RecordError as error:
            if first.probe_version == __version__:
                raise
            hint = f"PROBE {first.probe_version} wrote it and may replay it, this is {__version__}"
            raise RecordError(f"{error}; {hint}") from error
    return result
