"""How a build ends: the cells and the time, or for each failure its cause and what to type next."""

import shlex
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from probe import job, paths
from probe.config import Cell
from probe.records import Agreement, CellMetrics
from probe.report.tables import read_records_csv, text_table

_MOST_FAILURES = 10

_COLUMNS = ("repo", "run", "bugs", "findings", "matched", "recall", "precision", "F1", "not ok")


def success_text(folder: Path, cells: Sequence[Cell], started: float) -> str:
    """How many cells a finished build has, in what time, and how to see them.

    Args:
        folder: where the build ran; ``results/`` lies in it.
        cells: the cells that were asked for.
        started: seconds since the epoch.
    """
    files = [paths.cell_file(cell) for cell in cells]
    present = [file for file in files if (folder / file).exists()]
    took = _duration(time.time() - started)
    if not present:
        return f"PROBE: done in {took}."
    text = f"PROBE: {_count(len(present), 'cell')} in {took}"
    table = folder / "results" / "metrics.csv"
    shown = "results/metrics.csv" if table.exists() and len(present) > 1 else present[0]
    return f"{text}; to see them: probe cells {shown}"


def overview_text(files: Sequence[Path]) -> str:
    """The cells of metrics files, the agreement of labelled repositories, and where all that is."""
    parts = [cells_text(files)]
    folders = [file.parent for file in files]
    tables = sorted(
        {table for folder in folders for table in folder.glob("*/reference/agreement.csv")}
    )
    for table in tables:
        parts += [
            f"Agreement of the reference set with its labelled truth ({table}):",
            agreement_text(table),
        ]
    parts.append(
        f"Results: {', '.join(str(file) for file in files)}; what is where: results/README.md"
    )
    return "\n\n".join(parts)


def failure_text(
    folder: Path, cells: Sequence[Cell], started: float, command: Sequence[str]
) -> str:
    """For each failed job its cause in one line and its log, then the command that resumes."""
    done = sum((folder / paths.cell_file(cell)).exists() for cell in cells)
    failures = list(failed_jobs(folder, started))
    lines = [
        "",
        f"PROBE: {done} of {_count(len(cells), 'cell')} with a result, {len(failures)} failed:",
    ]
    for name, cause, log in failures[:_MOST_FAILURES]:
        lines += [f"  {name}: {cause}", f"    log: {log}"]
    if len(failures) > _MOST_FAILURES:
        lines.append(f"  and {len(failures) - _MOST_FAILURES} more; their logs are in logs/")
    if not failures:
        lines.append("  no job said why; the message above is Snakemake's own")
    program = Path(command[0]).name
    lines.append(f"Resume with: {shlex.join([program, *command[1:]])}")
    return "\n".join(lines)


def failed_jobs(folder: Path, started: float) -> Iterable[tuple[str, str, Path]]:
    """Job, cause and log of every job that wrote its log since ``started`` and did not end well."""
    for log in sorted((folder / "logs").rglob("*.log")):
        if log.stat().st_mtime < started - 1:
            continue
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = lines[-1] if lines else ""
        if last == job.DONE:
            continue
        cause = last.removeprefix(f"{job.ERROR} ") if last.startswith(job.ERROR) else "killed"
        yield str(log.relative_to(folder / "logs").with_suffix("")), cause, log


def cells_text(files: Iterable[Path]) -> str:
    """The cells of these CSV files as a table for people; ``–`` where a figure is undefined."""
    metrics = [cell for file in files for cell in read_records_csv(file, CellMetrics)]
    rows = [
        [
            cell.repo,
            cell.run,
            str(cell.bugs),
            str(cell.findings),
            str(cell.matched_bugs),
            _percent(cell.recall),
            _percent(cell.precision),
            _percent(cell.f1),
            _trouble(cell),
        ]
        for cell in metrics
    ]
    return text_table(_COLUMNS, rows)


def agreement_text(file: Path) -> str:
    """The agreement of a reference set with its labelled truth, as a table for people."""
    rows = [
        [
            row.repo,
            row.stage,
            str(row.true_positives + row.false_negatives),
            str(row.true_positives + row.false_positives),
            _percent(row.recall),
            _percent(row.precision),
            _percent(row.f1),
        ]
        for row in read_records_csv(file, Agreement)
    ]
    return text_table(("repo", "stage", "true", "said", "recall", "precision", "F1"), rows)


def _trouble(cell: CellMetrics) -> str:
    parts = [
        (cell.passes_failed, "failed pass", "failed passes"),
        (cell.files_skipped, "skipped file", "skipped files"),
        (cell.files_timed_out, "timed-out file", "timed-out files"),
        (cell.rejected_findings, "rejected finding", "rejected findings"),
        (cell.unjudged_pairs, "unjudged pair", "unjudged pairs"),
        (cell.unjudged_reference, "unjudged reference item", "unjudged reference items"),
    ]
    return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in parts if n)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
