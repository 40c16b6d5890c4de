"""The number of calls in flight, changed while builds run: a small file that every client polls."""

import logging
import time
from pathlib import Path

from pydantic import Field

from probe.errors import RecordError
from probe.records import Record, read_json, write_json

logger = logging.getLogger(__name__)

POLL_S = 1.0
"""Seconds between two looks at the file, at least."""


class Tuning(Record):
    """What ``probe tune`` sets (``tune/{model}.json`` in the cache folder)."""

    concurrency: int = Field(ge=1, le=1_024)
    """Calls in flight of one process, at most, instead of the model's own setting."""


def tuning_path(folder: Path, model: str) -> Path:
    """Where a model's tuning is kept in the cache folder."""
    return folder / "tune" / f"{model}.json"


def read_tuning(folder: Path, model: str) -> Tuning | None:
    """The model's tuning; None where nothing was set.

    Raises:
        RecordError: the file is there and is no tuning.
    """
    path = tuning_path(folder, model)
    return read_json(path, Tuning) if path.exists() else None


def write_tuning(folder: Path, model: str, concurrency: int) -> None:
    """Set the calls in flight; running clients follow within about a second."""
    write_json(tuning_path(folder, model), Tuning(concurrency=concurrency))


def reset_tuning(folder: Path, model: str) -> None:
    """Go back to the setting in the models file."""
    tuning_path(folder, model).unlink(missing_ok=True)


class TunedCeiling:
    """The ceiling that holds for a model now, read from the file at most once a second."""

    def __init__(self, folder: Path, model: str, configured: int) -> None:
        self._folder = folder
        self._model = model
        self._configured = configured
        self._value = configured
        self._looked = float("-inf")

    def current(self) -> int:
        """Calls in flight, at most; a file that cannot be read changes nothing and is logged."""
        now = time.monotonic()
        if now - self._looked < POLL_S:
            return self._value
        self._looked = now
        try:
            tuning = read_tuning(self._folder, self._model)
        except RecordError as error:
            logger.warning("%s; the tuning is left at %d", error, self._value)
            return self._value
        self._set(self._configured if tuning is None else tuning.concurrency)
        return self._value

    def _set(self, value: int) -> None:
        if value != self._value:
            logger.info("%s: at most %d calls in flight from now on", self._model, value)
        self._value = value
