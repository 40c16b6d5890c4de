"""Why a number is what it is: from a cell, a bug, a finding or a commit back to its evidence."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from probe.errors import RecordError
from probe.records import (
    CellMetrics,
    Evidence,
    Judgement,
    PassResult,
    Provenance,
    SessionLeak,
)
from probe.report.evidence import RepositoryRecords
from probe.report.tables import read_records_csv

_METRICS = ".metrics.csv"
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_CANDIDATE = re.compile(r"([0-9a-f]{12})-[1-9][0-9]*")
_EXCERPT_LINES = 6


@dataclass(frozen=True)
class Explainer:
    """Answers from the records of one build."""

    results: Path
    """The results folder."""
    cache: Path
    """The folder of recorded calls."""

    def explain(self, target: str) -> str:
        """What lies behind a target, as lines for people.

        Args:
            target: a ``{run}.metrics.csv`` file, the id of a bug, finding or candidate, or a
                commit's name of seven digits or more.

        Raises:
            RecordError: it names nothing in the results folder.
        """
        if target.endswith(_METRICS):
            return "\n".join(self._cell(Path(target)))
        told: dict[str, str] = {}
        for records in self._repositories():
            if target.startswith(f"{records.name}:") and target in records.bugs:
                return "\n".join(self._bug(records, target))
            for run in records.runs():
                if target.startswith(f"{records.name}:{run}:"):
                    if target not in records.findings(run):
                        raise RecordError(f"{target}: run {run!r} has no such finding")
                    return "\n".join(self._finding(records, run, target))
            told[records.name] = "\n\n".join(self._commits(records, target))
        found = {name: text for name, text in told.items() if text}
        if len(found) == 1:
            return next(iter(found.values()))
        if found:  # variants of a repository share commits, and judge presence each for itself
            return "\n\n".join(f"in {name}:\n{text}" for name, text in found.items())
        raise RecordError(
            f"{target}: neither a {{run}}{_METRICS} file nor the id of a bug, finding, candidate or "
            f"window commit in {self.results}/"
        )

    def _commits(self, records: RepositoryRecords, target: str) -> Iterator[str]:
        """The commits that an abbreviation or a candidate's id names, each as lines."""
        if _COMMIT.fullmatch(target):
            for sha in records.commits:
                if sha.startswith(target):
                    yield "\n".join(self._commit(records, sha))
        elif _CANDIDATE.fullmatch(target) and target in records.candidates:
            sha = records.candidates[target].commit
            yield "\n".join(self._commit(records, sha, {target}))

    def _repositories(self) -> Iterator[RepositoryRecords]:
        for path in sorted(self.results.glob("*/reference/bugs.jsonl")):
            yield RepositoryRecords(path.parent.parent)

    def _cell(self, path: Path) -> Iterator[str]:
        for cell in read_records_csv(path, CellMetrics):
            records = RepositoryRecords(path.parent)
            yield f"{path}: run {cell.run} ({cell.kind}, {cell.model}) on {cell.repo}"
            yield f"  recall     {_rate(cell.matched_bugs, cell.bugs, cell.recall)} reference bugs"
            yield (
                f"  precision  {_rate(cell.matched_findings, cell.findings, cell.precision)} findings"
            )
            yield from self._passes(records, cell.run)
            yield from _isolation(cell, records)
            stages = " → ".join(f"{count} {stage}" for stage, count in records.funnel())
            yield f"  reference  {stages} (sha256 {cell.reference_sha256[:12]})"
            yield from self._versions(path.parent / cell.run / "config.json")
            matches = records.matches(cell.run)
            yield f"  matches    {len(matches)}"
            for match in matches:
                yield f"    {match.left} ~ {match.right}: {_judged(match)}"

    def _passes(self, records: RepositoryRecords, run: str) -> Iterator[str]:
        passes = records.passes(run)
        states = Counter(one.status for one in passes)
        yield "  passes     " + ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
        for one in passes:
            if one.status != "ok":
                yield f"    {one.pass_id}: {one.status}: {one.error}"
            yield from _transcript(records, run, one, "    ")
            yield from self._calls(one.provenance, "    ")

    def _versions(self, path: Path) -> Iterator[str]:
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RecordError(f"{path}: cannot read: {error}") from error
        yield (
            f"  made by    {', '.join(kept['tools'])}; PROBE {kept['probe_version']} at revision "
            f"{kept['code_revision'] or 'unknown'}; configuration {path}"
        )

    def _bug(self, records: RepositoryRecords, name: str) -> Iterator[str]:
        bug = records.bugs[name]
        place = f"{bug.primary.path}:{bug.primary.first}-{bug.primary.last}"
        yield f"{name}: {bug.title}"
        yield f"  at {place}, fix {bug.fix_rank} of the window"
        yield f"  written up by {_made(bug.provenance)}"
        yield from self._calls(bug.provenance, "    ")
        for sha in bug.fix_commits:
            yield from (f"  {line}" for line in self._commit(records, sha, set(bug.candidates)))
        for run in records.runs():
            for match in records.matches(run):
                if match.right == name:
                    yield f"  matched by {match.left}: {_judged(match)}"

    def _finding(self, records: RepositoryRecords, run: str, name: str) -> Iterator[str]:
        finding = records.findings(run)[name]
        yield f"{name}: {finding.title}"
        yield f"  at {finding.path}:{finding.first}-{finding.last}"
        for one in records.passes(run):
            if one.pass_id == finding.pass_id:
                yield f"  pass {one.pass_id} ended {one.status}; made by {_made(one.provenance)}"
                yield from _place(one, "    ")
                yield from _transcript(records, run, one, "    ")
                yield from (_hit(leak, "    ") for leak in _leaks_of(records, run, one))
                yield from self._calls(one.provenance, "    ")
        matches = [match for match in records.matches(run) if match.left == name]
        for match in matches:
            yield f"  matches {match.right}: {_judged(match)}"
        if not matches:
            yield "  matches no reference bug"

    def _commit(
        self, records: RepositoryRecords, sha: str, only: set[str] | None = None
    ) -> Iterator[str]:
        commit = records.commits[sha]
        yield f"commit {sha} of {commit.committer_time:%Y-%m-%d}: {commit.subject}"
        verdict = records.classifications.get(sha)
        if verdict is not None:
            said = {True: "a fix", False: "no fix", None: "unjudged"}[verdict.is_fix]
            yield (
                f"  classified as {said} ({verdict.confidence:.2f}) by "
                f"{_made(verdict.provenance)}: {verdict.rationale}"
            )
            yield from self._calls(verdict.provenance, "    ")
        for candidate in records.candidates.values():
            if candidate.commit == sha and (only is None or candidate.id in only):
                yield (
                    f"  candidate {candidate.id}: {candidate.title}; anchored {candidate.anchoring}, "
                    f"{candidate.anchored_lines} lines in the snapshot"
                )
                yield from self._presence(records, candidate.id)

    def _presence(self, records: RepositoryRecords, candidate: str) -> Iterator[str]:
        presence = records.presences.get(candidate)
        if presence is None:
            return
        said: str = presence.verdict or "unjudged"
        if presence.ground:
            said += f", {presence.ground}"
        if presence.overruled:
            said += f", overruled a drop ({presence.claimed or 'no ground'}): {presence.overruled}"
        yield (
            f"    presence: {said} ({presence.confidence:.2f}) by {_made(presence.provenance)}: "
            f"{presence.rationale}"
        )
        transcript = records.transcript("presence", candidate)
        if transcript is not None:
            yield f"      transcript {transcript}"
        yield from self._calls(presence.provenance, "      ")
        for evidence in presence.evidence:
            yield from _quoted(evidence)

    def _calls(self, provenance: Provenance, indent: str) -> Iterator[str]:
        for key in provenance.calls:
            path = self.cache / "calls" / key[:2] / f"{key}.json"
            yield f"{indent}call {path}" + ("" if path.is_file() else " (not in this cache)")


def _isolation(cell: CellMetrics, records: RepositoryRecords) -> Iterator[str]:
    """Whether the cell's sessions knew the time after T0; nothing for runs without sessions."""
    if cell.leak_hits is None:
        return
    yield (
        f"  isolation  {cell.sandbox or 'no sandbox'}, environment {cell.environment or 'unknown'}: "
        f"{cell.leak_hits} leaks in {cell.leaked_passes} passes, {cell.leak_suspects} suspects, "
        f"{cell.leak_attempts} attempts"
    )
    yield from (_hit(leak, "    ") for leak in records.leaks(cell.run) if leak.weight == "leak")


def _place(one: PassResult, indent: str) -> Iterator[str]:
    """Where a pass worked; nothing for finders without a sandbox."""
    if one.sandbox is not None:
        yield (
            f"{indent}worked in {one.sandbox.engine} {one.sandbox.version}, {one.sandbox.image}; "
            f"environment {one.environment or 'unknown'}"
        )


def _transcript(
    records: RepositoryRecords, run: str, one: PassResult, indent: str
) -> Iterator[str]:
    transcript = records.session(run, one)
    if transcript is not None:
        yield f"{indent}transcript {transcript}" + ("" if transcript.is_file() else " (missing)")


def _leaks_of(records: RepositoryRecords, run: str, one: PassResult) -> list[SessionLeak]:
    return [leak for leak in records.leaks(run) if leak.pass_id == one.pass_id]


def _hit(leak: SessionLeak, indent: str) -> str:
    return f"{indent}{leak.weight} {leak.kind} at {leak.where} ({leak.source}): {leak.detail}"


def _quoted(evidence: Evidence) -> Iterator[str]:
    """A command with how it ended, whether it was reproduced, and the start of its output."""
    notes = [] if evidence.exit is None else [f"exit {evidence.exit}"]
    if evidence.reproduced is not None:
        notes.append("reproduced" if evidence.reproduced else "not reproduced")
    first, *more = evidence.command.splitlines() or [""]
    yield f"      $ {first}" + (f" [{', '.join(notes)}]" if notes else "")
    lines = evidence.output.splitlines()
    yield from (f"      > {line}" for line in more[:_EXCERPT_LINES])
    yield from (f"        {line}" for line in lines[:_EXCERPT_LINES])
    if len(lines) > _EXCERPT_LINES:
        yield f"        … {len(lines) - _EXCERPT_LINES} more lines"


def _rate(part: int, whole: int, rate: float | None) -> str:
    return f"{part} of {whole}" + ("" if rate is None else f" = {100 * rate:.1f}%")


def _judged(match: Judgement) -> str:
    verdict = "match" if match.match else "unjudged"
    return f"{verdict} ({match.confidence:.2f}) by {_made(match.provenance)}: {match.rationale}"


def _made(provenance: Provenance) -> str:
    prompt = f", prompt {provenance.prompt_sha256[:12]}" if provenance.prompt_sha256 else ""
    return f"{provenance.engine} {provenance.engine_version}{prompt}"
