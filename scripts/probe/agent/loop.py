"""The agent loop: a model works with bash in a sandbox until it submits, or something ends it.

One turn: make the conversation fit the window, ask the model, carry out what it wants, tell it what
came of that. Before each turn the limits are checked; when one is near, the model is told once, and
then only a submission is accepted. Everything goes through the journal, so that this same code runs
a new pass, goes on with one that was killed, and replays a finished one.

A dead sandbox, a dead server and a refusal end a pass as failed: they are never shown to the model
as if a command had failed, and never count as "found nothing".
"""

from pathlib import Path
from typing import Generic

from pydantic import ValidationError

from probe.agent import words
from probe.agent.actions import (
    Bash,
    Submit,
    object_actions,
    problems,
    refusal,
    screen,
    tool_actions,
)
from probe.agent.edges import Ending, end_line, header_line, unanswered
from probe.agent.journal import Journal, now
from probe.agent.meter import Meter
from probe.agent.steps import Bench, ask
from probe.agent.types import AgentLimits, AgentResult, AgentTask, S
from probe.agent.window import Talk
from probe.errors import RecordError
from probe.models.client import Caller
from probe.records import Answer
from probe.records.transcript import (
    AnswerLine,
    CommandLine,
    DropLine,
    HeaderLine,
    LimitName,
    NoticeLine,
    RequestLine,
)
from probe.sandbox.base import Sandbox


def run_agent(
    caller: Caller, sandbox: Sandbox, task: AgentTask[S], limits: AgentLimits, transcript: Path
) -> AgentResult[S]:
    """Run one pass, or go on with one whose transcript is there.

    A transcript of the same task, limits and sandbox is taken over as far as it goes: answers in it
    are not asked for again, and its commands are run again only for their effects on files, once a
    new command needs them. After an end that is the model's own doing (a submission, a limit, a
    refusal) nothing is run at all. Any other transcript there is overwritten.

    Args:
        caller: Whom to ask through.
        sandbox: Where commands run; freshly opened with what ``task.content_sha256`` stands for.
        task: What to do.
        limits: What it may use.
        transcript: The file to write, line by line.

    Raises:
        ModelError: the model cannot be asked at all; the pass can be gone on with.
        RecordError: the transcript cannot be read or written, or another process writes it.
    """
    header = header_line(task, limits, sandbox.info)
    with Journal(transcript, live=True) as journal:
        return Session(task, limits, header, journal, caller, sandbox).run()


class Session(Generic[S]):
    """One pass under way; without a caller and a sandbox, a replay of one."""

    def __init__(
        self,
        task: AgentTask[S],
        limits: AgentLimits,
        header: HeaderLine,
        journal: Journal,
        caller: Caller | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.task, self.limits, self.header = task, limits, header
        self.journal, self.caller = journal, caller
        self.talk = Talk(task, limits)
        self.bench = Bench(sandbox, self.talk.shown_tokens) if sandbox else None
        self.meter = Meter(limits)
        self.calls: list[str] = []
        self.last_chance: LimitName | None = None
        self.commands = self.final_turns = self.invalid = self.idle = 0

    def run(self) -> AgentResult[S]:
        """Turn after turn until something ends the pass."""
        self.journal.say(self.header)
        while True:
            ending = self._prepare() or self._turn()
            if ending is not None:
                return self._end(ending)

    def _prepare(self) -> Ending | None:
        """Check the limits, give the last chance when one is near, fit the window."""
        if reached := self.meter.reached():
            return Ending("limit", *reached)
        if self.last_chance and self.final_turns == self.limits.final_turns:
            detail = f"it was near; no valid submission in the last {self.final_turns} turns"
            return Ending("limit", self.last_chance, detail)
        if self.last_chance is None and (near := self.meter.near()):
            self._press(near)
        if not self._fit() and self.last_chance is None:
            self._press("context")
            self._fit()
        if self.talk.tokens > self.talk.window:
            detail = f"{self.talk.tokens} of {self.talk.window} tokens of prompt"
            return Ending("limit", "context", detail)
        return None

    def _press(self, name: LimitName) -> None:
        self.last_chance = name
        self._notice("last_chance", words.last_chance(name, self.limits.final_turns))

    def _fit(self) -> bool:
        dropped = self.talk.fit(final=self.last_chance is not None)
        if dropped.commands:
            line = DropLine(time=now(), commands=dropped.commands, tokens=dropped.tokens)
            self.journal.say(line)
        return dropped.fits

    def _turn(self) -> Ending | None:
        """Ask the model and carry out what it wants."""
        final = self.last_chance is not None
        self.final_turns += final
        line = self._ask(final)
        if line.answer is None:
            return unanswered(line)
        self.meter.answered(line, line.answer, self.talk.tokens)
        self.talk.observe(line.usage)
        if refused := refusal(line.answer):
            return Ending("failed", "refusal", f"the model refused: {refused}")
        return self._act(line.answer, final)

    def _ask(self, final: bool) -> AnswerLine:
        request = self.talk.request(final=final)
        self.journal.say(
            RequestLine(
                time=now(),
                turn=len(self.calls) + 1,
                key=request.key,
                messages=len(request.messages),
                tokens=self.talk.tokens,
                final=final,
            )
        )
        line = self.journal.take(AnswerLine)
        if line is None:
            if self.caller is None:
                raise RecordError(f"{self.journal.path}: a replay asks no model")
            line = ask(self.caller, request)
            self.journal.add(line)
        if line.answer is not None:
            self.calls.append(request.key)
        return line

    def _act(self, answer: Answer, final: bool) -> Ending | None:
        native = self.talk.style == "tools"
        actions = tool_actions(answer) if native else object_actions(answer)
        cut = answer.cut_off
        self.talk.hear(answer)
        acted = False
        for action, refused in screen(
            actions, cut=cut, final=final, commands=self.limits.commands_a_turn
        ):
            if isinstance(action, Bash) and refused is None and self.meter.seconds_left() <= 0:
                refused = words.TIME_IS_UP
            ending = None
            if refused is not None:
                self._notice("refused", refused, action.call)
            elif isinstance(action, Bash):
                ending = self._command(action)
            elif isinstance(action, Submit):
                ending = self._submission(action)
            if ending is not None:
                return ending
            acted = acted or refused is None
        if not actions:
            self._notice("no_action", words.no_action(native=native, cut=cut, final=final))
        self.idle = 0 if acted else self.idle + 1
        if self.idle > self.limits.reminders:
            detail = f"{self.idle} answers in a row without anything to carry out"
            return Ending("failed", "no_action", detail)
        return None

    def _command(self, action: Bash) -> Ending | None:
        number = self.commands + 1
        line = self.journal.take(CommandLine, number=number, command=action.command)
        if self.bench is None:
            if line is None:
                raise RecordError(f"{self.journal.path}: a replay runs no command")
        elif line is None:
            line = self.bench.run(action, number, self._seconds(action), self.journal)
        else:
            self.bench.recorded(line)
        self.meter.worked(line.wall_s)
        self.commands = number
        if line.dead is not None:
            return Ending("failed", "dead_sandbox", f"the sandbox died: {line.dead}")
        self.talk.reply(action.call, line.shown, number)
        return None

    def _seconds(self, action: Bash) -> float:
        """What a command is given: what it asks for, within its limit and the pass's."""
        asked = action.timeout_s or self.limits.command_s
        return min(asked, self.limits.command_s, max(1.0, self.meter.seconds_left()))

    def _submission(self, action: Submit) -> Ending | None:
        try:
            answer = self.task.submit.model_validate_json(action.document)
        except ValidationError as error:
            self.invalid += 1
            found = problems(error)
        else:
            return Ending("submitted", answer=answer)
        if self.invalid > self.limits.corrections:
            first = found.splitlines()[0]
            detail = f"{self.invalid} submissions that do not fit the schema; the last: {first}"
            return Ending("failed", "invalid_submission", detail)
        self._notice("invalid_submission", words.invalid(found), action.call)
        return None

    def _notice(self, reason: words.Reason, text: str, call: str | None = None) -> None:
        self.journal.say(NoticeLine(time=now(), reason=reason, call=call, text=text))
        if call is None:
            self.talk.say(text)
        else:
            self.talk.reply(call, text)

    def _end(self, ending: Ending) -> AgentResult[S]:
        answer = ending.answer
        result = AgentResult(
            status=ending.status,
            reason=ending.reason,
            detail=ending.detail,
            answer=answer if isinstance(answer, self.task.submit) else None,
            last_chance=self.last_chance,
            usage=self.meter.usage,
            turns=len(self.calls),
            commands=self.commands,
            working_s=self.meter.used["time"],
            calls=tuple(self.calls),
            served_model=self.meter.served_model,
        )
        self.journal.say(end_line(result))
        return result
