"""What all static analysers share: settings, coverage, status, provenance.

An analyser's own module says which files it reads, how it is called and how its output is read.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import probe
from probe.errors import FinderError
from probe.finders.base import FinderContext
from probe.finders.chunks import Scan, scan_in_chunks
from probe.finders.locate import SnapshotTree
from probe.finders.normalise import Cleaner, normalise
from probe.finders.process import Bench, ToolTimeoutError, open_bench
from probe.records import PassResult, PassStatus, Provenance, Usage


@dataclass(frozen=True, slots=True)
class AnalyzerSettings:
    """The settings of an analyser's run; nothing has a default in code."""

    rules: tuple[str, ...]
    """What to report, in the tool's own names."""
    ignore: tuple[str, ...]
    """What to leave out of ``rules``."""
    timeout_s: float
    """Bound of one run of the tool, in seconds; the pass ends after four times this."""


@dataclass(frozen=True, slots=True)
class Job:
    """One pass of one analyser, as its module sees it."""

    bench: Bench
    """Where to run it."""
    root: Path
    """The unpacked snapshot."""
    settings: AnalyzerSettings
    """What to report."""
    files: tuple[str, ...]
    """All snapshot paths of the pass that the analyser reads, whatever the chunk."""

    def absolute(self, files: Sequence[str]) -> list[str]:
        """Snapshot paths as absolute paths, in which no file name can look like an option."""
        return [f"{self.root}/{path}" for path in files]


@dataclass(frozen=True, slots=True)
class Analyzer:
    """An analyser: its name, its files, and how it is run."""

    tool: str
    """Its name, also that of its executable."""
    endings: tuple[str, ...]
    """File endings that it reads, with the dot, lower case."""
    command: Callable[[Job, Sequence[str]], list[str]]
    """The command line for absolute paths; writes its configuration to the bench where needed."""
    scan: Callable[[Job, Sequence[str], float], Scan]
    """Runs it on snapshot paths within seconds; raises ToolCrashError or ToolTimeoutError."""
    version: Callable[[], str]
    """Its version; raises FinderError where it is missing."""


def find_with(analyzer: Analyzer, context: FinderContext) -> PassResult:
    """Run an analyser on the pass's files.

    Returns:
        status ``ok`` when at least one file was read or there was none to read; ``timeout`` or
        ``failed`` when none was. Files of other languages are not covered and not mentioned.

    Raises:
        FinderError: the tool is missing, or the settings are not an analyser's.
    """
    started = time.monotonic()
    settings = read_settings(context.settings, f"run {context.run!r}")
    version = analyzer.version()
    files = files_for(analyzer, context.the_pass.files)
    tree = SnapshotTree(context.snapshot_root, context.files)
    with open_bench(tree.root) as bench:
        job = Job(bench, tree.root, settings, tuple(files))
        names = {
            f"{tree.root}/": "",
            f"{tree.root}": "{snapshot}",
            f"{bench.folder}": "{settings}",
            f"{Path(__file__).parent}": "{finders}",
        }
        cleaner = Cleaner(names)
        program, *arguments = analyzer.command(job, [])
        scan, problem = _run(analyzer, job, files)
    skipped, timed_out = sorted(scan.skipped.keys() & set(files)), sorted(scan.timed_out)
    read = len(files) - len(skipped) - len(timed_out)
    status = _status(problem, len(files), read, bool(timed_out))
    placed = normalise(scan.items, tree, (context.repo, context.run, context.the_pass.id), cleaner)
    return PassResult(
        repo=context.repo,
        run=context.run,
        pass_id=context.the_pass.id,
        status=status,
        error=None if status == "ok" else cleaner.text(problem or _nothing_read(analyzer, scan)),
        findings=placed.findings,
        rejected=placed.rejected,
        suppressed=scan.suppressed,
        oddities=placed.oddities,
        files_read=read,
        files_skipped=tuple(skipped),
        files_timed_out=tuple(timed_out),
        usage=Usage(usd=0.0),
        wall_s=time.monotonic() - started,
        command=(Path(program).name, *map(cleaner.text, arguments), "{files}"),
        provenance=Provenance(
            engine=analyzer.tool, engine_version=version, probe_version=probe.__version__
        ),
    )


def read_settings(settings: Mapping[str, object], where: str) -> AnalyzerSettings:
    """The settings of an analyser's run.

    Raises:
        FinderError: one is missing or of another type.
    """
    rules = _names(settings, "rules", where)
    if not rules:
        raise FinderError(f"{where}: 'rules' is empty; list the rules that the analyser reports")
    timeout = settings.get("timeout_s")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise FinderError(f"{where}: 'timeout_s' is {timeout!r}; expected seconds above 0")
    return AnalyzerSettings(rules, _names(settings, "ignore", where), float(timeout))


def files_for(analyzer: Analyzer, paths: Sequence[str]) -> list[str]:
    """The paths that the analyser reads, sorted."""
    endings = set(analyzer.endings)
    return sorted(path for path in paths if PurePosixPath(path).suffix.lower() in endings)


def _names(settings: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = settings.get(key, ())
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise FinderError(f"{where}: {key!r} is {value!r}; expected a list of rule names")
    return tuple(value)


def _run(analyzer: Analyzer, job: Job, files: Sequence[str]) -> tuple[Scan, str | None]:
    """What the tool said, or in a line why it says nothing."""
    if not files:
        return Scan(), None

    def scan(chunk: Sequence[str], limit_s: float) -> Scan:
        return analyzer.scan(job, chunk, limit_s)

    def check_tool() -> None:
        harmless = job.bench.folder / "harmless"
        harmless.mkdir(exist_ok=True)
        name = f"empty{analyzer.endings[0]}"
        (harmless / name).write_text("\n", encoding="utf-8")
        try:
            trial = Job(job.bench, harmless, job.settings, (name,))
            analyzer.scan(trial, [name], job.settings.timeout_s)
        except ToolTimeoutError as error:
            raise FinderError(f"{analyzer.tool} does not end on an empty file: {error}") from error

    try:
        return scan_in_chunks(files, scan, check_tool, job.settings.timeout_s), None
    except FinderError as error:
        return Scan(skipped=dict.fromkeys(files, str(error))), str(error)


def _status(problem: str | None, files: int, read: int, timed_out: bool) -> PassStatus:
    if problem is not None:
        return "failed"
    if files == 0 or read > 0:
        return "ok"
    return "timeout" if timed_out else "failed"


def _nothing_read(analyzer: Analyzer, scan: Scan) -> str:
    if scan.timed_out:
        return f"{analyzer.tool} ran out of time on {len(scan.timed_out)} files and read none"
    path = min(scan.skipped)
    return f"{analyzer.tool} could read none of {len(scan.skipped)} files; {path}: {scan.skipped[path]}"
