"""The transcript while a pass runs: what is recorded is taken from it, the rest is done and added.

One mechanism serves three ends. A new pass writes its lines as it goes. A pass that was killed goes
on where its transcript ends: the loop runs again over the recorded lines, asks nobody, and adds
from there. A replay does the same without a model or a sandbox, and every line that the loop
arrives at must be the recorded one.
"""

import fcntl
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from io import FileIO
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from probe.errors import RecordError
from probe.records.transcript import (
    AnswerLine,
    CommandLine,
    EndLine,
    HeaderLine,
    Line,
    RerunLine,
    ResumedLine,
    read_transcript,
)

L = TypeVar("L", HeaderLine, AnswerLine, CommandLine, EndLine)

_log = logging.getLogger(__name__)

_LASTING = {"refusal", "invalid_submission", "no_action", "invalid"}
"""Kinds of failure that are the model's own: running the pass again does not ask it again."""


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


class Journal:
    """The lines of one pass: read first, then written.

    A live journal that meets a line other than the loop's (another task, or another version of
    PROBE) forgets it and all after it, and goes on live: answers are in the cache all the same.
    """

    def __init__(self, path: Path, *, live: bool) -> None:
        """Read what is there.

        Args:
            path: The transcript; it need not exist where the journal is live.
            live: Whether lines may be added; otherwise each must be there already.

        Raises:
            RecordError: the file is no transcript, or another process is writing it.
        """
        self.path = path
        self.live = live
        self._taken = 0
        self._untouched = True
        self._stream = _locked(path) if live else None
        try:
            self._numbered = _recorded(path)
        except RecordError:
            self.close()
            raise
        if live:
            self._numbered = _worth_keeping(self._numbered)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes have the file."""
        if self._stream is not None:
            self._stream.close()

    @property
    def first(self) -> Line | None:
        """The first recorded line; None where there is none."""
        return self._numbered[0][1] if self._numbered else None

    @property
    def over(self) -> bool:
        """Whether all recorded lines have been taken."""
        return self._taken == len(self._numbered)

    def take(self, kind: type[L], **fields: object) -> L | None:
        """The next recorded line, of this kind and with these fields; None where it is to be done.

        Raises:
            RecordError: in a replay, another line or none is recorded.
        """
        if self.over:
            if not self.live:
                raise RecordError(
                    f"{self.path}: the transcript stops after line {self._last()}, before the pass "
                    f"ended; run the pass again to finish it"
                )
            return None
        number, line = self._numbered[self._taken]
        found = {name: getattr(line, name, None) for name in fields}
        if isinstance(line, kind) and found == fields:
            self._taken += 1
            return line
        self._diverge(
            number,
            f"recorded is a line {line.kind!r} {_short(found)}, now comes {kind.__name__} "
            f"{_short(fields)}",
        )
        return None

    def say(self, line: Line) -> None:
        """Hold a line that follows from those above against the recorded one, or add it.

        Raises:
            RecordError: in a replay, another line or none is recorded.
        """
        if not self.over:
            number, recorded = self._numbered[self._taken]
            difference = _difference(recorded, line)
            if difference is None:
                self._taken += 1
                return
            self._diverge(number, difference)
        elif not self.live:
            self.take(EndLine)
        self.add(line)

    def finish(self) -> None:
        """Make sure that nothing is recorded after the end.

        Raises:
            RecordError: something is.
        """
        if not self.over:
            raise RecordError(f"{self.path}:{self._last() + 1}: replay differs: it has ended here")

    def add(self, line: Line) -> None:
        """Append a line, at once and whole; what was recorded beyond the lines taken is dropped.

        Raises:
            RecordError: the disk is full.
        """
        if self._stream is None:
            raise RecordError(f"{self.path}: a replay adds nothing to a transcript")
        try:
            if self._untouched:
                self._untouched = False
                self._stream.truncate(_end_of_line(self.path, self._last()))
                if self._taken:
                    _write(self._stream, ResumedLine(time=now(), lines=self._last()))
            _write(self._stream, line)
        except OSError as error:
            raise RecordError(f"{self.path}: cannot write: {error.strerror or error}") from error

    def _last(self) -> int:
        """Number of the last line taken in the file, 0 where none was."""
        return self._numbered[self._taken - 1][0] if self._taken else 0

    def _diverge(self, number: int, difference: str) -> None:
        if not self.live:
            raise RecordError(f"{self.path}:{number}: replay differs: {difference}")
        if number > 1:
            _log.warning("%s:%d: goes on from here: %s", self.path, number, difference)
        del self._numbered[self._taken :]


def _locked(path: Path) -> FileIO:
    """The file, open for appending, which no other process has.

    Some network file systems drop a process's lock when it closes another handle of the same file,
    as reading does: a lock of its own file would stay behind, and here a short gap is harmless.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = path.open("ab", buffering=0)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise RecordError(
            f"{path}: another process is at work on this pass; wait for it, or end it"
        ) from error
    return stream


def _write(stream: FileIO, line: Line) -> None:
    text = line.model_dump_json() + "\n"
    rest = memoryview(text.encode("utf-8", errors="replace"))
    while rest:
        rest = rest[stream.write(rest) :]


def _end_of_line(path: Path, number: int) -> int:
    """Bytes of the first lines of a file."""
    with path.open("rb") as stream:
        return sum(len(line) for line in islice(stream, number))


def _recorded(path: Path) -> list[tuple[int, Line]]:
    """The loop's own lines with their numbers in the file."""
    asides = ResumedLine | RerunLine
    lines = enumerate(read_transcript(path), 1)
    return [(number, line) for number, line in lines if not isinstance(line, asides)]


def _worth_keeping(numbered: Sequence[tuple[int, Line]]) -> list[tuple[int, Line]]:
    """The lines without an end that another attempt may better, and without what caused it."""
    kept = list(numbered)
    if kept and isinstance(end := kept[-1][1], EndLine):
        lasting = end.status in ("submitted", "limit") or end.reason in _LASTING
        if lasting:
            return kept
        kept.pop()
    while kept and _failed(kept[-1][1]):
        kept.pop()
    return kept


def _failed(line: Line) -> bool:
    if isinstance(line, AnswerLine):
        return line.answer is None
    return isinstance(line, CommandLine) and line.dead is not None


def _difference(recorded: Line, line: Line) -> str | None:
    """The first field in which two lines differ, their times apart; None where they agree."""
    if recorded.kind != line.kind:
        return f"recorded is a line {recorded.kind!r}, now comes {line.kind!r}"
    old, new = (one.model_dump(mode="json", exclude={"time"}) for one in (recorded, line))
    for name, value in old.items():
        if value != new[name]:
            return f"{line.kind}.{name}: recorded {_short(value)}, now {_short(new[name])}"
    return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
