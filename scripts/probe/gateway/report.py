"""What the gateway says about a pass: a line for every request, and their sum at the end."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from probe.errors import RecordError
from probe.records import Usage
from probe.records.base import Record, UtcTime

LimitHit = Literal["calls", "usd", "seconds", "failures", "budget"]
"""Which limit ended the pass; ``budget`` is that of the whole workflow, and ``failures`` means that
the provider is out of reach: no limit of the agent's."""


class GatewayLine(Record):
    """One request that came out of the sandbox: a line of the log. Headers and keys never appear."""

    time: UtcTime
    """When it ended."""
    method: str
    """HTTP method."""
    path: str
    """Path as asked, without its query, which can hold a key."""
    status: int | None
    """HTTP status of the answer; None where the client was gone or the answer broke off."""
    outcome: str
    """``answered``, ``counted`` (tokens only, free), ``refused: CODE``, ``status N`` (passed on as it
    came), ``connection``, ``timeout``, ``broken`` (the answer broke off), ``client_gone``."""
    asked_model: str | None = None
    """Model that the client named."""
    served_model: str | None = None
    """Model that the provider names."""
    effort: str | None = None
    """Reasoning effort that the client asked for."""
    stripped: tuple[str, ...] = ()
    """Tools and settings of the provider that were taken out of the request."""
    usage: Usage = Usage()
    """Tokens, cost and working time of an answer."""
    certain: bool = True
    """False where ``usage.usd`` is a bound, because no whole answer says what it cost."""
    latency_s: float = Field(default=0, ge=0)
    """Seconds from the request to the last byte of its answer."""
    detail: str | None = None
    """Why it was refused or failed, in one line."""
    request: str | None = None
    """Body as it came, keys masked; only where bodies are recorded."""
    answer: str | None = None
    """Body as it went back, keys masked; only where bodies are recorded."""


class GatewayReport(Record):
    """All requests of a pass."""

    calls: int
    """Calls that were passed on, whatever came of them; counting tokens is none."""
    answered: int
    """Calls with a whole answer."""
    uncertain: int
    """Calls whose cost is a bound, because their answer broke off or did not say."""
    refused: dict[str, int]
    """Requests that were not passed on, by reason."""
    errors: dict[str, int]
    """Calls that failed, by ``status N``, ``connection``, ``timeout``, ``broken``, ``client_gone``."""
    stripped: dict[str, int]
    """Requests out of which a tool or setting was taken, by its name."""
    usage: Usage
    """Sum over all calls; ``usd`` includes the bounds of uncertain ones."""
    limit: LimitHit | None
    """The limit that was hit: from then on every request was refused."""
    asked_models: tuple[str, ...]
    """Models that the client named, sorted."""
    served_models: tuple[str, ...]
    """Models that the provider named, sorted."""
    efforts: tuple[str, ...]
    """Reasoning efforts that the client asked for, sorted."""


class LineLog:
    """The log: appended to line by line, so that a killed job leaves what happened before.

    Not written by way of a temporary file: like the ledger it is a trace, and no input of a stage.
    """

    def __init__(self, path: Path | None) -> None:
        """Begin a new file.

        Raises:
            RecordError: it cannot be written.
        """
        self.lines: list[GatewayLine] = []
        """All lines without their bodies."""
        self._stream = None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._stream = path.open("wb", buffering=0)
            except OSError as error:
                raise RecordError(f"{path}: cannot write: {error.strerror}") from error

    def add(self, line: GatewayLine) -> None:
        """Append a line.

        Raises:
            RecordError: the file cannot be written.
        """
        self.lines.append(line.model_copy(update={"request": None, "answer": None}))
        if self._stream is not None:
            try:
                self._stream.write(line.model_dump_json(exclude_defaults=True).encode() + b"\n")
            except OSError as error:
                name = self._stream.name
                raise RecordError(f"{name}: cannot write: {error.strerror}") from error

    def close(self) -> None:
        """End the file; harmless when called again."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
