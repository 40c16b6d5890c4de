"""The two things that a pass does outside itself: ask the model, run a command."""

from probe.agent.actions import Bash
from probe.agent.journal import Journal, now
from probe.agent.tools import show_output
from probe.errors import BudgetError, SandboxError
from probe.models.base import Request
from probe.models.client import Caller
from probe.models.secrets import one_line, scrub
from probe.records import Failure
from probe.records.transcript import AnswerLine, CommandLine, RerunLine
from probe.sandbox.base import Sandbox


def ask(caller: Caller, request: Request) -> AnswerLine:
    """Ask the model once; what keeps it from answering is part of the line.

    Raises:
        ModelError: the model cannot be asked at all (no key, no price).
    """
    try:
        outcome = caller.call(request)
    except BudgetError as error:
        return AnswerLine(time=now(), budget=one_line(str(error)))
    if outcome.call is None:
        return AnswerLine(
            time=now(),
            failure=outcome.failure or Failure(kind="empty", detail="neither answer nor failure"),
            waiting_s=outcome.waiting_s,
            attempts=outcome.attempts,
        )
    return AnswerLine(
        time=now(),
        answer=outcome.call.answer,
        served_model=outcome.call.served_model,
        usage=outcome.call.usage,
        latency_s=outcome.call.latency_s,
        cached=outcome.cached,
        waiting_s=outcome.waiting_s,
        attempts=outcome.attempts,
    )


class Bench:
    """The sandbox of a pass, which may have to catch up with what its transcript has seen."""

    def __init__(self, sandbox: Sandbox, shown_tokens: int) -> None:
        """Nothing is run yet.

        Args:
            sandbox: Where commands run.
            shown_tokens: Tokens of one command's output that the model sees.
        """
        self._sandbox = sandbox
        self._shown_tokens = shown_tokens
        self._pending: list[CommandLine] = []

    def recorded(self, line: CommandLine) -> None:
        """Note a command that an earlier attempt ran: this sandbox lacks its effects."""
        self._pending.append(line)

    def run(self, action: Bash, number: int, timeout_s: float, journal: Journal) -> CommandLine:
        """Run a command, after those that only the transcript has seen, and add its line."""
        line = CommandLine(
            time=now(), number=number, call=action.call, command=action.command, timeout_s=timeout_s
        )
        try:
            self._catch_up(journal)
            line = self._run(line)
        except SandboxError as error:
            line = line.model_copy(update={"time": now(), "dead": one_line(str(error))})
        journal.add(line)
        return line

    def _catch_up(self, journal: Journal) -> None:
        pending, self._pending = self._pending, []
        differing = [
            line.number
            for line in pending
            if self._sandbox.run(line.command, line.timeout_s).exit != line.exit
        ]
        if pending:
            journal.add(RerunLine(time=now(), commands=len(pending), differing=tuple(differing)))

    def _run(self, line: CommandLine) -> CommandLine:
        """The line with what came of it, once the sandbox has been seen to outlive it.

        Keys of the host cannot get into the sandbox; should one stand in the output all the same,
        it is masked before anybody sees it.
        """
        output = self._sandbox.run(line.command, line.timeout_s)
        output = output._replace(stdout=scrub(output.stdout), stderr=scrub(output.stderr))
        dead = None
        if output.exit != 0 and not self._sandbox.alive():
            end = "timed out" if output.timed_out else f"ended with {output.exit}"
            dead = f"it answers no more after command {line.number}, which {end}"
        return line.model_copy(
            update={
                "time": now(),
                "exit": output.exit,
                "timed_out": output.timed_out,
                "truncated": output.truncated,
                "stdout_chars": len(output.stdout),
                "stderr_chars": len(output.stderr),
                "shown": show_output(line.number, output, self._shown_tokens),
                "wall_s": output.wall_s,
                "dead": dead,
            }
        )
