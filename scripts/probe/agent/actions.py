"""What a model wants done: read strictly from its answer, and what of it is carried out.

Nothing is guessed: text that is no tool call (or, for models without tool calls, no single JSON
object) asks for nothing, and the model is told so.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from probe.models.mend import mend, parse
from probe.models.secrets import one_line
from probe.records import Answer


def _runnable(command: str) -> str:
    if not command.strip() or "\0" in command:
        raise ValueError("a command is text without NUL characters, and not empty")
    return command


class BashArguments(BaseModel):
    """Run a command with bash in the work folder."""

    command: Annotated[str, AfterValidator(_runnable)] = Field(description="The command line.")
    timeout_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Seconds after which it is killed."
    )


@dataclass(frozen=True)
class Bash:
    """Run a command."""

    call: str
    command: str
    timeout_s: float | None


@dataclass(frozen=True)
class Submit:
    """Hand in an answer and end."""

    call: str
    document: str
    """JSON, not yet held against the stage's schema."""


@dataclass(frozen=True)
class Bad:
    """Something that cannot be carried out."""

    call: str
    error: str
    """What is wrong, for the model."""


Action = Bash | Submit | Bad


def tool_actions(answer: Answer) -> list[Action]:
    """The actions of native tool calls, in the model's order.

    The ids are those of :func:`call_ids`.
    """
    actions: list[Action] = []
    for call_id, call in zip(call_ids(answer), answer.tool_calls, strict=True):
        if call.name == "bash":
            actions.append(_bash(call_id, call.arguments))
        elif call.name == "submit":
            actions.append(Submit(call_id, call.arguments))
        else:
            actions.append(Bad(call_id, f"no tool {call.name!r}; the tools are bash and submit"))
    return actions


def call_ids(answer: Answer) -> list[str]:
    """An id for each tool call, unique in the answer also where a server left some empty or equal."""
    ids: list[str] = []
    for number, call in enumerate(answer.tool_calls, 1):
        name = call.id or f"call-{number}"
        while name in ids:
            name += "+"
        ids.append(name)
    return ids


def object_actions(answer: Answer) -> list[Action]:
    """The one action of an answer that is one JSON object; none where there is no text.

    A fence around it and stray commas are taken away, as for every structured answer.
    """
    text = mend(answer.content or "").strip()
    if not text:
        return []
    try:
        found = parse(text)
    except (ValueError, RecursionError) as error:
        return [Bad("", f"your answer is not one JSON object: {error}")]
    kind = found.get("action") if isinstance(found, dict) else None
    if kind == "bash":
        return [_bash("", text)]
    if isinstance(found, dict) and kind == "submit" and "answer" in found:
        return [Submit("", json.dumps(found["answer"]))]
    wanted = '{"action": "bash", "command": …} nor {"action": "submit", "answer": …}'
    return [Bad("", f"your answer is neither {wanted}")]


def refusal(answer: Answer) -> str | None:
    """Why the model or its provider's filter refused; None where neither did."""
    if answer.refusal is None and answer.filtered is None:
        return None
    return one_line(answer.refusal or f"finish reason {answer.filtered}")


def _bash(call: str, document: str) -> Action:
    try:
        arguments = BashArguments.model_validate_json(document)
    except ValidationError as error:
        return Bad(call, f"bad arguments of bash: {problems(error)}")
    return Bash(call, arguments.command, arguments.timeout_s)


def problems(error: ValidationError, limit: int = 10) -> str:
    """The first problems of a validation, one a line, without the values that were given."""
    listed = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(map(str, one['loc'])) or 'document'}: {one['msg']}" for one in listed]
    more = [f"and {len(lines) - limit} more"] if len(lines) > limit else []
    return "\n".join(lines[:limit] + more)


def screen(
    actions: Sequence[Action], *, cut: bool, final: bool, commands: int
) -> list[tuple[Action, str | None]]:
    """Each action with the reason for which it is not carried out, None for those that are.

    1. An answer that was cut off is not carried out at all.
    2. On the last turns only a submission is.
    3. Of several submissions none is: it is not for us to choose.
    4. A submission beside commands waits: it was written before their output was seen.
    5. At most ``commands`` commands of one answer are run.
    """
    submissions = sum(isinstance(action, Submit) for action in actions)
    with_commands = any(isinstance(action, Bash) for action in actions)
    running = 0
    screened: list[tuple[Action, str | None]] = []
    for action in actions:
        running += isinstance(action, Bash)
        reason = None
        if cut:
            reason = "your answer was cut off at its maximum length; answer again, more briefly"
        elif isinstance(action, Bad):
            reason = action.error
        elif isinstance(action, Bash) and final:
            reason = "only a submission is accepted now"
        elif isinstance(action, Bash) and running > commands:
            reason = f"at most {commands} commands are run in one turn"
        elif isinstance(action, Submit) and submissions > 1:
            reason = "submit once only"
        elif isinstance(action, Submit) and with_commands and not final:
            reason = "submit alone, after you have seen the output of your commands"
        screened.append((action, f"not carried out: {reason}" if reason else None))
    return screened
