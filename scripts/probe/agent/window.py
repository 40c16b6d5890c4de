"""The conversation, kept within the model's window by dropping the output of old commands.

What is dropped depends on the messages and on the token counts in the answers alone, so that a
pass that is run again drops the same and asks the same.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Generic, NamedTuple

from probe.agent.actions import call_ids
from probe.agent.tools import Style, action_schema, style_of, system_text, tool_specs
from probe.agent.types import AgentLimits, AgentTask, S
from probe.code.tokens import count_tokens
from probe.models.base import Request
from probe.records import Answer, Usage

MARGIN = 1.05
"""The least by which our count of tokens is taken to be short of the provider's."""
LOW_WATER = 0.7
"""Share of the window down to which is dropped at once: seldom much is cheaper than often little,
since every change to old messages loses what the provider has cached behind it."""
_MESSAGE_TOKENS = 8
_QUOTED = 2_000
"""Characters of an unusable text that the model is shown again."""


class Dropped(NamedTuple):
    """What was dropped, and whether the rest fits."""

    commands: tuple[int, ...]
    """Numbers of the commands, oldest first."""
    tokens: int
    """Estimated tokens that this frees."""
    fits: bool
    """Whether the conversation is within the window now."""


@dataclass
class _Shown:
    """A command's output in the conversation."""

    command: int
    place: int
    note: str
    saving: int


def plan_drops(savings: Sequence[int], keep: int, total: int, budget: int) -> list[int]:
    """Places of the outputs to drop, oldest first: none while the total fits the budget.

    Once it does not, outputs are dropped down to :data:`LOW_WATER` of the budget, or as far as
    there are any. The last ``keep`` stay whatever the total, and so do those that are no longer
    than the note that would replace them.

    Args:
        savings: Tokens freed by dropping each output, oldest first.
        keep: Latest outputs that stay.
        total: Tokens of the whole conversation.
        budget: Tokens that it may have.
    """
    chosen: list[int] = []
    if total <= budget:
        return chosen
    for place, saving in enumerate(savings[: max(0, len(savings) - keep)]):
        if total <= budget * LOW_WATER:
            break
        if saving > 0:
            chosen.append(place)
            total -= saving
    return chosen


@dataclass
class Talk(Generic[S]):
    """The messages between the loop and the model."""

    task: AgentTask[S]
    limits: AgentLimits
    messages: list[dict[str, object]] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _shown: list[_Shown] = field(default_factory=list)
    _scale: float = MARGIN

    def __post_init__(self) -> None:
        """Open the conversation with the task's two prompts."""
        entry = self.task.model.entry
        self.style: Style = style_of(entry)
        self.window = entry.prompt_room
        """Tokens that a request may have."""
        self.reserve = min(1_000, self.window // 8)
        """Tokens of the window that are kept for the last chance to submit."""
        self.shown_tokens = min(self.limits.shown_tokens, self.window // 8)
        """Tokens of one command's output."""
        system = system_text(self.task.system, self.task.submit, self.style)
        self._add({"role": "system", "content": system})
        self._add({"role": "user", "content": self.task.user})
        self._fixed = count_tokens(json.dumps(self._form(final=False), ensure_ascii=False))

    def request(self, *, final: bool) -> Request:
        """What to ask next; on the last turns nothing but a submission is offered."""
        form = self._form(final=final)
        return Request(
            model=self.task.model,
            messages=tuple(self.messages),
            schema=form if isinstance(form, dict) else None,
            tools=form if isinstance(form, list) else (),
            sample=self.task.sample,
            purpose=self.task.purpose,
        )

    def _form(self, *, final: bool) -> dict[str, object] | list[dict[str, object]] | None:
        if self.style == "tools":
            return tool_specs(self.task.submit, final=final)
        return action_schema(self.task.submit, final=final) if self.style == "schema" else None

    def say(self, text: str) -> None:
        """Add a message of the loop's own."""
        self._add({"role": "user", "content": text})

    def hear(self, answer: Answer) -> None:
        """Add what the model said, in a form that every provider takes back.

        Of text that ran on until it was cut off, the beginning is enough.
        """
        content = answer.content
        if content and answer.cut_off and len(content) > _QUOTED:
            content = content[:_QUOTED] + " […]"
        message: dict[str, object] = {"role": "assistant", "content": content}
        if answer.tool_calls and self.style == "tools":
            message["tool_calls"] = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": _function(call.name, call.arguments),
                }
                for call_id, call in zip(call_ids(answer), answer.tool_calls, strict=True)
            ]
        elif not content:
            message["content"] = "(no text)"
        self._add(message | answer.returned)

    def reply(self, call: str, text: str, command: int | None = None) -> None:
        """Add the result of an action; that of a command can be dropped later."""
        if command is not None:
            size = count_tokens(text)
            note = f"[output of command {command} dropped: {size} tokens]"
            saving = size - count_tokens(note)
            self._shown.append(_Shown(command, len(self.messages), note, saving))
        if self.style == "tools":
            self._add({"role": "tool", "tool_call_id": call, "content": text})
        else:
            self.say(text)

    def _add(self, message: dict[str, object]) -> None:
        self.messages.append(message)
        said = [str(message.get("content") or ""), json.dumps(message.get("tool_calls", ""))]
        self._sizes.append(_MESSAGE_TOKENS + sum(count_tokens(text) for text in said))

    @property
    def tokens(self) -> int:
        """Estimated tokens of the next request, with the provider's counts so far in view."""
        return ceil(self._scale * (self._fixed + sum(self._sizes)))

    def observe(self, usage: Usage) -> None:
        """Correct the estimate by what the provider counted for the request just answered."""
        served = usage.prompt_tokens or 0
        self._scale = max(self._scale, min(2.0, MARGIN * served / (self.tokens / self._scale)))

    def fit(self, *, final: bool) -> Dropped:
        """Drop as much old output as the window asks for.

        The last turns may use the reserve, and drop the latest outputs too.
        """
        budget = self.window if final else self.window - self.reserve
        keep = 0 if final else self.limits.keep_outputs
        savings = [int(self._scale * shown.saving) for shown in self._shown]
        before = self.tokens
        chosen = [self._shown[i] for i in plan_drops(savings, keep, before, budget)]
        for shown in chosen:
            self.messages[shown.place] = {**self.messages[shown.place], "content": shown.note}
            self._sizes[shown.place] -= shown.saving
        self._shown = [shown for shown in self._shown if shown not in chosen]
        commands = tuple(shown.command for shown in chosen)
        return Dropped(commands, before - self.tokens, self.tokens <= budget)


def _function(name: str, arguments: str) -> dict[str, object]:
    """A call as it is given back: providers refuse a history with names or arguments that are not
    what tools have.
    """
    try:
        sound = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        sound = False
    return {
        "name": re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "nameless",
        "arguments": arguments if sound else json.dumps({"unreadable": arguments[:_QUOTED]}),
    }
