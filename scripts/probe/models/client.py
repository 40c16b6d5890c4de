"""The only door to a model."""

from collections.abc import Sequence
from typing import Protocol

from probe.models.base import A, Model, Outcome, Question, Reply, Request


class Caller(Protocol):
    """What the agent loop needs of a client: one call at a time, from any thread."""

    def call(self, request: Request) -> Outcome:
        """Answer a request: from the cache, else bought, booked, paced and retried.

        Raises:
            BudgetError: the call could pass the cap on money.
            ModelError: the model cannot be asked at all (no key, no price).
        """
        ...


class Asker(Protocol):
    """What a stage needs of a client: a whole batch at once."""

    def ask(
        self,
        model: Model,
        questions: Sequence[Question[A]],
        answer: type[A],
        *,
        purpose: str,
        sample: int = 1,
    ) -> list[Reply[A]]:
        """Replies in the order of the questions.

        Raises:
            BudgetError: a call could pass the cap; what was bought stays in the cache.
            ModelError: the model cannot be asked at all.
        """
        ...
