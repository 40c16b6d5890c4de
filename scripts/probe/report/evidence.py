"""The records of a results folder, looked up by id: what ``probe explain`` walks through."""

import csv
import os.path
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from probe.errors import RecordError
from probe.records import (
    Bug,
    Candidate,
    Classification,
    Commit,
    Finding,
    Judgement,
    PassResult,
    Presence,
    Record,
    SessionLeak,
    iter_jsonl,
    read_json,
    read_jsonl,
)

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class RepositoryRecords:
    """Everything that was recorded of one repository; files are read when they are asked for."""

    folder: Path
    """``results/{repo}``."""

    @property
    def name(self) -> str:
        """Key of the repository."""
        return self.folder.name

    @cached_property
    def bugs(self) -> dict[str, Bug]:
        """Reference bugs by id.

        Raises:
            RecordError: the reference set is not built.
        """
        return {bug.id: bug for bug in read_jsonl(self.folder / "reference/bugs.jsonl", Bug)}

    @cached_property
    def commits(self) -> dict[str, Commit]:
        """Window commits by full name."""
        listed = iter_jsonl(self.folder / "reference/commits.jsonl", Commit)
        return {commit.sha: commit for commit in listed}

    @cached_property
    def classifications(self) -> dict[str, Classification]:
        """Verdicts by commit."""
        return {one.commit: one for one in self._of_blocks("classifications", Classification)}

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        """Candidates by id."""
        return {one.id: one for one in self._of_blocks("candidates", Candidate)}

    @cached_property
    def presences(self) -> dict[str, Presence]:
        """Presence verdicts by candidate."""
        return {one.candidate: one for one in self._of_blocks("presence", Presence)}

    def transcript(self, stage: str, candidate: str) -> Path | None:
        """The transcript of an agent's pass over a candidate; None where no agent worked."""
        pattern = f"reference/blocks/*/transcripts/{stage}/{candidate}.jsonl"
        return next(iter(sorted(self.folder.glob(pattern))), None)

    def funnel(self) -> list[tuple[str, int]]:
        """Stages and how many stayed, in order."""
        path = self.folder / "reference/funnel.csv"
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                rows = list(csv.DictReader(stream))
            stayed: dict[str, int] = {}
            for row in rows:
                if row["outcome"] == "stayed":
                    stayed[row["stage"]] = stayed.get(row["stage"], 0) + int(row["count"])
            return list(stayed.items())
        except (OSError, KeyError, ValueError) as error:
            raise RecordError(f"{path}: no funnel table ({error}); build it first") from error

    def runs(self) -> list[str]:
        """Names of the runs that have findings, sorted."""
        return sorted(path.parent.name for path in self.folder.glob("*/findings.jsonl"))

    def findings(self, run: str) -> dict[str, Finding]:
        """A run's findings by id."""
        found = iter_jsonl(self.folder / run / "findings.jsonl", Finding)
        return {finding.id: finding for finding in found}

    def matches(self, run: str) -> list[Judgement]:
        """A run's judgements that are matches or unjudged; of bugs that errata withdrew, none."""
        judged = iter_jsonl(self.folder / run / "judgements.jsonl", Judgement)
        return [one for one in judged if one.match is not False and one.right in self.bugs]

    def passes(self, run: str) -> list[PassResult]:
        """A run's passes, sorted by name."""
        files = sorted((self.folder / run / "passes").glob("*.json"))
        return [read_json(path, PassResult) for path in files]

    def session(self, run: str, one: PassResult) -> Path | None:
        """The transcript of a pass; None for a finder without sessions."""
        if one.transcript is None:
            return None
        return Path(os.path.normpath(self.folder / run / "passes" / one.transcript))

    def leaks(self, run: str) -> list[SessionLeak]:
        """What the scan of a run's transcripts found; nothing for a run without sessions."""
        path = self.folder / run / "leaks.jsonl"
        return read_jsonl(path, SessionLeak) if path.is_file() else []

    def _of_blocks(self, name: str, model: type[R]) -> Iterator[R]:
        for path in sorted((self.folder / "reference/blocks").glob(f"*/{name}.jsonl")):
            yield from iter_jsonl(path, model)
