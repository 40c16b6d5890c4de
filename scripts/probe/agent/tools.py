"""The two tools as a model is told of them, and a command's output as it is shown.

Nothing here depends on time, process numbers or paths of the host: the same answers and outputs
give the same messages, and with them the same cache keys, in a pass that is run again.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Literal, cast

from pydantic import BaseModel

from probe.agent.actions import BashArguments
from probe.code.tokens import count_tokens
from probe.config import ModelEntry
from probe.models.strict_schema import strict_schema
from probe.sandbox.base import Output

Style = Literal["tools", "schema", "prompt"]
"""How a model says what it wants: see :func:`style_of`."""

_BASH = (
    "Run a command line with bash in the work folder and read its exit status and output. Each "
    "command starts in the work folder with a fresh shell; files stay, variables and background "
    "processes do not. There is no network. Long output is cut in the middle: print what you need."
)
_SUBMIT = "Hand in the result and end. It counts as a whole: hand in everything, once."
_ACTIONS = """

Work in turns. Each of your answers is one JSON object and nothing else, either

{"action": "bash", "command": "the command line", "timeout_s": seconds or null}
to run a command, or

{"action": "submit", "answer": {...}}
to hand in the result and end.

bash: %s
submit: %s
"""
_SCHEMA = "\nEach answer must fit this schema.\nJSON schema:\n%s\n"
_PIECE = 200


def style_of(entry: ModelEntry) -> Style:
    """Native tool calls where the model has them, else actions: held to a JSON schema by the
    provider where it can, else by the prompt alone.
    """
    if entry.supports.tools:
        return "tools"
    return "schema" if entry.supports.json_schema else "prompt"


def tool_specs(submit: type[BaseModel], *, final: bool) -> list[dict[str, object]]:
    """The tools in OpenAI's form; on the last turns ``submit`` alone."""
    bash = _tool("bash", _BASH, _parameters(BashArguments))
    hand_in = _tool("submit", _SUBMIT, _parameters(submit))
    return [hand_in] if final else [bash, hand_in]


def action_schema(submit: type[BaseModel], *, final: bool) -> dict[str, object]:
    """JSON schema of one action; on the last turns of a submission alone.

    Raises:
        TypeError: the submission has a part that constrained decoding cannot hold to.
    """
    answer = dict(strict_schema(submit))
    definitions = answer.pop("$defs", None)
    handing_in = _object({"action": _word("submit"), "answer": answer})
    arguments = strict_schema(BashArguments)["properties"]
    running = _object({"action": _word("bash"), **cast(Mapping[str, object], arguments)})
    schema: dict[str, object] = handing_in if final else {"anyOf": [running, handing_in]}
    return schema if definitions is None else {**schema, "$defs": definitions}


def system_text(text: str, submit: type[BaseModel], style: Style) -> str:
    """The stage's system prompt with what a model without tool calls must know."""
    if style == "tools":
        return text
    text += _ACTIONS % (_BASH, _SUBMIT)
    if style == "prompt":
        text += _SCHEMA % json.dumps(action_schema(submit, final=False), sort_keys=True)
    return text


def _tool(name: str, description: str, parameters: object) -> dict[str, object]:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _parameters(model: type[BaseModel]) -> dict[str, object]:
    schema = model.model_json_schema()
    schema.pop("title", None)
    return schema


def _word(word: str) -> dict[str, object]:
    return {"type": "string", "enum": [word]}


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def show_output(number: int, output: Output, budget: int) -> str:
    """A command's end as the model reads it: number, exit status, output within a token budget.

    Args:
        number: The command's number, by which a later note can name it.
        output: What came of it.
        budget: Tokens (cl100k_base) for its output; stderr gets what stdout leaves, and at least a
            quarter.
    """
    status = "time ran out, killed" if output.timed_out else f"exit status {output.exit}"
    parts = [f"command {number}: {status}"]
    if output.truncated:
        parts.append("[the command printed more than the sandbox keeps: the rest is lost]")
    stderr = cut_middle(output.stderr, budget // 4)
    stdout = cut_middle(output.stdout, budget - count_tokens(stderr))
    stderr = cut_middle(output.stderr, budget - count_tokens(stdout))
    for name, text in (("stdout", stdout), ("stderr", stderr)):
        if text:
            parts.append(f"{name}:\n{text.rstrip()}")
    if not stdout and not stderr:
        parts.append("no output")
    return "\n".join(parts)


def cut_middle(text: str, budget: int) -> str:
    """Head and tail of a text that is too long, with a note in between of what was cut.

    The count is by pieces of lines, each counted apart, so that the cost of cutting grows with the
    budget and not with the text. The note itself comes on top.

    Args:
        text: Any text.
        budget: Tokens (cl100k_base) that may stay.
    """
    if len(text) <= 16 * budget and count_tokens(text) <= budget:
        return text
    head = _within(_pieces(text), budget // 2)
    tail = _within((piece[::-1] for piece in _pieces(text[head:][::-1])), budget // 2)
    end = len(text) - tail
    end += text[end : end + 1] == "\n"  # the end of the last line that is cut
    cut = text[head:end]
    note = f"[{cut.count(chr(10))} lines, {len(cut)} characters cut here]"
    gap = "" if text[:head].endswith("\n") else "\n"
    return f"{text[:head]}{gap}{note}\n{text[end:]}"


def _pieces(text: str) -> Iterable[str]:
    """Lines, long ones in pieces, one at a time."""
    place = 0
    while place < len(text):
        end = text.find("\n", place, place + _PIECE)
        end = min(place + _PIECE, len(text)) if end < 0 else end + 1
        yield text[place:end]
        place = end


def _within(pieces: Iterable[str], budget: int) -> int:
    """Characters of the first pieces that stay within the budget."""
    taken = tokens = 0
    for piece in pieces:
        tokens += count_tokens(piece)
        if tokens > budget:
            break
        taken += len(piece)
    return taken
