"""All questions of a batch side by side, until every one has a reply or money runs out."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from probe.errors import BudgetError, ProbeError
from probe.models.base import Outcome, Request
from probe.models.progress import Progress
from probe.models.structured import Dialogue

MOST_IN_FLIGHT = 1_024
"""Dialogues that are open at once: the largest concurrency that a model may have."""


class Stop:
    """Says to calls that have not been sent that they must not be."""

    def __init__(self) -> None:
        self.reason: ProbeError | None = None
        """Why nothing more is sent."""

    def check(self) -> None:
        """Raise the reason, if there is one."""
        if self.reason is not None:
            raise self.reason


class Answers(Protocol):
    """Where single answers come from."""

    async def answer(self, request: Request, stop: Stop) -> Outcome:
        """The outcome of one request."""
        ...


class Batch:
    """The dialogues that the cache did not answer."""

    def __init__(
        self, answers: Answers, dialogues: Sequence[Dialogue[Any]], progress: Progress, known: int
    ) -> None:
        """Nothing is sent yet.

        Args:
            answers: where answers come from.
            dialogues: without a reply so far.
            progress: told of each reply.
            known: questions of the same batch that the cache has answered.
        """
        self._answers = answers
        self._left = list(reversed(dialogues))
        self._dialogues = dialogues
        self._progress = progress
        self._known = known
        self._stop = Stop()

    async def run(self) -> None:
        """Give each dialogue its reply.

        Raises:
            BudgetError: a call could pass the cap; those in flight were waited for.
            ProbeError: an answer could not be kept; those in flight were waited for.
        """
        workers = min(len(self._left), MOST_IN_FLIGHT)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        reason = self._stop.reason
        if isinstance(reason, BudgetError):
            done = self._known + sum(dialogue.reply is not None for dialogue in self._dialogues)
            whole = self._known + len(self._dialogues)
            raise BudgetError(f"{reason} ({done} of {whole} items are answered)") from None
        self._stop.check()

    async def _work(self) -> None:
        while self._left and self._stop.reason is None:
            dialogue = self._left.pop()
            try:
                while dialogue.reply is None:
                    outcome = await self._answers.answer(dialogue.request, self._stop)
                    dialogue.take(outcome)
            except ProbeError as error:
                self._stop.reason = self._stop.reason or error
                return
            self._progress.count(dialogue.reply, dialogue.bought_usd)
