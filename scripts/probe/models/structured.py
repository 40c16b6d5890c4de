"""Answers that are records: asked for with a schema, validated, asked again when they don't fit.

A :class:`Dialogue` is a question with its repair turns, apart from how calls are made: it says what
to ask next and takes what came of it, so that cached answers are replayed without any event loop.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Generic

from pydantic import ValidationError

from probe.models.base import A, Message, Model, Outcome, Question, Reply, Request
from probe.models.mend import mend, parse
from probe.models.secrets import one_line
from probe.models.strict_schema import strict_schema
from probe.records import Answer, Failure, FailureKind, Usage

SCHEMA_LINE = "JSON schema:"
"""The line of a prompt below which the schema stands, for models that cannot be held to one."""

_QUOTED = 2_000
"""Characters of a cut answer that are shown to the model again."""

_AGAIN = {
    "truncated": "The answer was cut at the limit of its length. Answer again, shorter and whole.",
    "empty": "The answer was empty. Answer again.",
    "reasoning_only": "There was reasoning, but no answer. Answer now.",
    "tool_call": "There are no tools here. Answer directly.",
    "invalid": "The answer does not fit: {detail}. Answer again, whole and corrected.",
}


class Dialogue(Generic[A]):
    """One question until it has a reply."""

    def __init__(
        self,
        model: Model,
        question: Question[A],
        answer: type[A],
        *,
        purpose: str,
        sample: int,
        repair_turns: int,
    ) -> None:
        """Nothing is asked yet; see :meth:`probe.models.client.Client.ask` for the arguments."""
        self.reply: Reply[A] | None = None
        """The reply, once there is one."""
        self.bought_usd = 0.0
        """US dollars of its answers that did not come from the cache."""
        self._model = model
        self._id = question.id
        self._answer = answer
        self._check = question.check
        self._rejected: A | None = None
        self._purpose = purpose
        self._sample = sample
        self._turns_left = repair_turns
        self._outcomes: list[Outcome] = []
        schema = strict_schema(answer)
        native = model.entry.supports.json_schema
        self._schema = schema if native else None
        self._messages = (
            list(question.messages) if native else with_schema(question.messages, schema)
        )
        self.request = self._request()
        """What to ask next, while there is no reply."""

    def take(self, outcome: Outcome) -> None:
        """Take what came of :attr:`request`; there is a reply then, or another request."""
        self._outcomes.append(outcome)
        if outcome.call is None:
            self._end(None, outcome.failure)
            return
        if not outcome.cached:
            self.bought_usd += outcome.call.usage.usd or 0.0
        value, problem = self._judge(outcome.call.answer)
        if problem is None or problem.kind == "refusal" or self._turns_left == 0:
            self._end(value, problem)
            return
        self._turns_left -= 1
        self._messages = [*self._messages, *repair_messages(outcome.call.answer, problem)]
        self.request = self._request()

    @property
    def finished(self) -> Reply[A]:
        """The reply of a dialogue that has ended."""
        if self.reply is None:
            raise RuntimeError(f"{self._purpose}: {self._id} has no reply yet")
        return self.reply

    def _judge(self, answer: Answer) -> tuple[A | None, Failure | None]:
        value, problem = judge(answer, self._answer)
        wrong = self._check(value) if value is not None and self._check else None
        if wrong is None:
            return value, problem
        self._rejected = value
        return None, _failure("invalid", wrong)

    def _request(self) -> Request:
        return Request(
            model=self._model,
            messages=tuple(self._messages),
            schema=self._schema,
            sample=self._sample,
            purpose=self._purpose,
        )

    def _end(self, value: A | None, failure: Failure | None) -> None:
        calls = [outcome.call for outcome in self._outcomes if outcome.call is not None]
        usage = sum((call.usage for call in calls), Usage())
        for outcome in self._outcomes:
            if outcome.call is None and outcome.attempts:
                usage += Usage(attempts=outcome.attempts, waiting_s=outcome.waiting_s)
        self.reply = Reply(
            id=self._id,
            value=value,
            failure=failure,
            calls=tuple(call.key for call in calls),
            usage=usage,
            served_model=calls[-1].served_model if calls else None,
            cached=bool(calls) and all(outcome.cached for outcome in self._outcomes),
            rejected=self._rejected if value is None else None,
        )


def judge(answer: Answer, expected: type[A]) -> tuple[A | None, Failure | None]:
    """The record that an answer is, or why it is none: exactly one of the two."""
    content = answer.content or ""
    if answer.refusal or answer.filtered:
        return None, _failure("refusal", answer.refusal or f"finish_reason {answer.filtered}")
    if answer.cut_off:
        return None, _failure("truncated", f"cut after {len(content)} characters")
    if not content.strip():
        return None, _without_content(answer)
    value, problem = _validated(content, expected)
    if problem is not None and answer.tool_calls:
        return None, _without_content(answer)
    return value, problem


def with_schema(messages: Sequence[Message], schema: Mapping[str, object]) -> list[Message]:
    """The messages with the schema at the end of the last one of the user."""
    text = json.dumps(schema, ensure_ascii=False)
    added = (
        "Answer with one JSON object that fits this schema, and with nothing else.\n\n"
        f"{SCHEMA_LINE}\n{text}"
    )
    places = [n for n, message in enumerate(messages) if message.get("role") == "user"]
    if not places:
        return [*messages, {"role": "user", "content": added}]
    last = dict(messages[places[-1]])
    content = last.get("content")
    if isinstance(content, str):
        last["content"] = f"{content}\n\n{added}"
    else:
        parts = content if isinstance(content, Sequence) else ()
        last["content"] = [*parts, {"type": "text", "text": added}]
    return [*messages[: places[-1]], last, *messages[places[-1] + 1 :]]


def repair_messages(answer: Answer, problem: Failure) -> list[Message]:
    """What is added to the conversation to ask again: the answer, and what is wrong with it.

    Made of the answer and nothing else, so that the same answers lead to the same next request.
    """
    said = answer.content or ""
    if problem.kind == "truncated" and len(said) > _QUOTED:
        said = said[:_QUOTED] + " […]"
    again = _AGAIN[problem.kind].format(detail=problem.detail.rstrip("."))
    return [
        {"role": "assistant", "content": said if said.strip() else "(no answer)"},
        {"role": "user", "content": f"{again} Give one JSON object of the schema, nothing else."},
    ]


def _failure(kind: FailureKind, detail: str) -> Failure:
    return Failure(kind=kind, detail=one_line(detail, 600))


def _validated(content: str, expected: type[A]) -> tuple[A | None, Failure | None]:
    mended = mend(content)
    try:
        parse(mended)
    except (ValueError, RecursionError) as error:
        return None, _failure("invalid", f"not JSON: {error}")
    try:
        return expected.model_validate_json(mended), None
    except ValidationError as error:
        return None, _failure("invalid", _problems(error))


def _problems(error: ValidationError) -> str:
    """The first three problems: enough to correct an answer, and no copy of it."""
    details = error.errors(include_url=False, include_input=False)
    lines = [
        f"{'.'.join(str(part) for part in detail['loc']) or 'the answer'}: {detail['msg']}"
        for detail in details[:3]
    ]
    more = f" (and {len(details) - 3} more)" if len(details) > 3 else ""
    return "; ".join(lines) + more


def _without_content(answer: Answer) -> Failure:
    if answer.tool_calls:
        names = ", ".join(call.name for call in answer.tool_calls)
        return _failure("tool_call", f"called {names} instead of answering")
    if answer.reasoning:
        return _failure("reasoning_only", f"{len(answer.reasoning)} characters of reasoning only")
    return _failure("empty", f"no content, finish_reason {answer.finish_reason}")
