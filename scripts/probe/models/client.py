"""The only door to a model.

A client owns a thread with an event loop, so that plain code in any number of threads asks, and
everything in flight shares one pace, one purse and one set of connections. What the cache has is
answered in the asking thread and never gets there.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from probe.config import ModelEntry, Settings
from probe.config.names import suggestion
from probe.errors import ConfigError, ModelError
from probe.models.base import A, Model, Outcome, Question, Reply, Request
from probe.models.batch import Batch, Stop
from probe.models.cache import CallStore
from probe.models.desk import Desk
from probe.models.ledger import Ledger
from probe.models.prices import check_price
from probe.models.progress import Progress
from probe.models.secrets import register_key
from probe.models.structured import Dialogue

T = TypeVar("T")


class Caller(Protocol):
    """What the agent loop needs of a client: one call at a time, from any thread."""

    def call(self, request: Request) -> Outcome:
        """Answer a request: from the cache, else bought, booked, paced and retried.

        Raises:
            BudgetError: the call could pass the cap on money.
            ModelError: the model cannot be asked at all (no key, no price), or replay mode is on
                and the call is not in the cache.
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


class Client:
    """Cache, money, pace and retries in front of all models; a context manager.

    Thread-safe, and safe beside other processes on the same folder. Nothing is written and litellm
    is not imported before the first call that the cache cannot answer.
    """

    def __init__(
        self,
        folder: Path,
        budget_usd: float,
        *,
        replay: bool = False,
        repair_turns: int = 2,
        progress: bool = False,
    ) -> None:
        """Start with no connection.

        Args:
            folder: the cache folder.
            budget_usd: US dollars that all calls in the folder's ledger may cost together.
            replay: answer from the cache only.
            repair_turns: how often an answer that does not fit is asked for again.
            progress: whether batches show how far they are.
        """
        self._store = CallStore(folder)
        self._desk = Desk(folder, self._store, Ledger(folder, budget_usd))
        self._replay = replay
        self._repair_turns = repair_turns
        self._progress = progress
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @classmethod
    def from_settings(cls, settings: Settings, *, progress: bool = False) -> Self:
        """A client as the configuration wants it; its folder is relative to the working one."""
        return cls(
            Path(settings.calls.folder),
            settings.budget.usd,
            replay=settings.calls.replay,
            repair_turns=settings.calls.repair_turns,
            progress=progress,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def call(self, request: Request) -> Outcome:
        """One answer; see :class:`Caller`.

        Equal requests at the same time share one call.
        """
        known = self._store.get(request.key)
        if known is not None:
            return Outcome(known, cached=True)
        if self._replay:
            raise _not_recorded(request)
        check_model(request.model)
        return self._run(self._desk.answer(request, Stop()))

    def ask(
        self,
        model: Model,
        questions: Sequence[Question[A]],
        answer: type[A],
        *,
        purpose: str,
        sample: int = 1,
    ) -> list[Reply[A]]:
        """A batch of validated answers; see :class:`Asker`.

        An answer that does not fit is asked for again, up to ``repair_turns`` times; a refusal is
        not. What still fails is a reply with a failure. Calls in flight when money runs out are
        waited for and kept.

        Args:
            model: whom to ask.
            questions: with ids of their own.
            answer: what each answer must be.
            purpose: what it is for, for people and the ledger.
            sample: number of the repeat; another number is never answered by the same calls.
        """
        if len({question.id for question in questions}) < len(questions):
            raise ValueError(f"{purpose}: two questions of a batch have one id")
        dialogues = [
            Dialogue(
                model,
                question,
                answer,
                purpose=purpose,
                sample=sample,
                repair_turns=self._repair_turns,
            )
            for question in questions
        ]
        open_ = [dialogue for dialogue in dialogues if not self._remember(dialogue)]
        if open_:
            check_model(model)
            known = len(dialogues) - len(open_)
            with Progress(purpose, len(dialogues), known, shown=self._progress) as progress:
                self._run(Batch(self._desk, open_, progress, known).run())
        return [dialogue.finished for dialogue in dialogues]

    def close(self) -> None:
        """Cancel what is in flight, which stays in the ledger at its bound, and end the thread."""
        with self._starting:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._wind_up(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
        self._desk.close()

    def _remember(self, dialogue: Dialogue[A]) -> bool:
        """Whether the cache answers a dialogue to its end; in replay mode it has to."""
        while dialogue.reply is None:
            known = self._store.get(dialogue.request.key)
            if known is not None:
                dialogue.take(Outcome(known, cached=True))
            elif self._replay:
                raise _not_recorded(dialogue.request)
            else:
                return False
        return True

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the client's loop, and wait; an interrupted wait cancels the work."""
        try:
            loop = self._started()
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._closed:
                raise ModelError("the model client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="probe-models", daemon=True
                )
                self._thread.start()
            return self._loop

    async def _wind_up(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._desk.disconnect()


def get_model(models: Mapping[str, ModelEntry], name: str) -> Model:
    """A model by its name in ``models.yaml``.

    Raises:
        ConfigError: there is no such model; the message names the nearest.
    """
    if name not in models:
        raise ConfigError(f"models.yaml: no model {name!r}{suggestion(name, models)}")
    return Model(name, models[name])


def check_model(model: Model) -> None:
    """Make sure that a model can be asked at all, before anything is sent.

    Raises:
        ModelError: its price is unknown, or the variable of its key is not set.
    """
    check_price(model.name, model.entry)
    variable = model.entry.key_env
    if variable is None:
        return
    register_key(variable)
    if not os.environ.get(variable, "").strip():
        raise ModelError(
            f"models.yaml: {model.name}: no key: the environment variable {variable} is not set; "
            f"set it (export {variable}=…), or choose another model"
        )


def _not_recorded(request: Request) -> ModelError:
    return ModelError(
        f"{request.purpose or request.model.name}: calls.replay is on, and call {request.key} is not "
        "in the cache; import the bundle of the build that is replayed (`probe cache import`), or "
        "turn calls.replay off to ask the model"
    )
