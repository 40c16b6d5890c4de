"""The finder ``sarif``: results of any tool that writes SARIF 2.1.0, from a file.

Reads what the standard allows and much of what tools write instead; every indulgence is counted in
the result's ``oddities``. What the report itself takes back (suppressed, absent since the baseline,
kinds that are no failure) is left out and counted. A report of a run that did not succeed is a
failed pass, with the findings it has.
"""

import reprlib
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import probe
from probe.errors import FinderError
from probe.finders.base import FinderContext
from probe.finders.locate import NotInSnapshotError, SnapshotTree
from probe.finders.normalise import Cleaner, RawItem, normalise
from probe.finders.sarif_file import DEFAULT_MAX_MB, check_sarif, load_sarif
from probe.finders.sarif_paths import UriReader, line_range
from probe.finders.sarif_rules import RuleBook, message_text, severity_of
from probe.finders.shape import array, integer, section, string
from probe.records import PassResult, Provenance, Rejected, Usage

__all__ = ["check_sarif", "find"]

NO_DEFECT = frozenset({"pass", "notApplicable", "informational"})
"""Kinds of result that claim no defect."""


def find(context: FinderContext) -> PassResult:
    """Read the results that the run's ``path`` holds.

    Settings: ``file``, or ``path`` in which ``{repo}`` stands for the repository's key; and
    optionally ``max_mb``, the file's largest size, and ``root``, the repository's folder on the
    machine that made the report.

    Raises:
        FinderError: the file cannot be read as SARIF 2.1.0.
    """
    started = time.monotonic()
    path, max_mb, root = _settings(context)
    log = load_sarif(path, max_mb)
    runs = array(log, "runs")
    tree = SnapshotTree(context.snapshot_root, context.files)
    reading = _Reading(tree, root)
    for run in runs:
        reading.read_run(run)
    cleaner = Cleaner({f"{tree.root}/": "", f"{tree.root}": "{snapshot}"})
    key = (context.repo, context.run, context.the_pass.id)
    placed = normalise(reading.items, tree, key, cleaner)
    malformed = tuple(one.model_copy(update={"raw": cleaner.item(one.raw)}) for one in reading.bad)
    error = reading.problem or (None if runs else "the report holds no run")
    skipped = sorted(set(context.the_pass.files) & reading.unread)
    return PassResult(
        repo=context.repo,
        run=context.run,
        pass_id=context.the_pass.id,
        status="failed" if error else "ok",
        error=cleaner.text(_one_line(error)) if error else None,
        findings=placed.findings,
        rejected=placed.rejected + malformed,
        suppressed=reading.suppressed,
        oddities=dict(sorted((reading.oddities + Counter(placed.oddities)).items())),
        files_skipped=tuple(skipped),
        usage=Usage(),
        wall_s=time.monotonic() - started,
        provenance=Provenance(
            engine="sarif",
            engine_version=cleaner.text(_one_line(", ".join(dict.fromkeys(reading.tools))))
            or "unknown",
            probe_version=probe.__version__,
        ),
    )


def _settings(context: FinderContext) -> tuple[Path, float, str]:
    where = f"run {context.run!r}"
    settings = context.settings
    path = settings.get("file") or settings.get("path")
    max_mb, root = settings.get("max_mb", DEFAULT_MAX_MB), settings.get("root")
    if not isinstance(path, str) or not path:
        raise FinderError(f"{where}: 'path' is {path!r}; expected the path of a SARIF file")
    if isinstance(max_mb, bool) or not isinstance(max_mb, int | float) or max_mb <= 0:
        raise FinderError(f"{where}: 'max_mb' is {max_mb!r}; expected megabytes above 0")
    if root is not None and not isinstance(root, str):
        raise FinderError(f"{where}: 'root' is {root!r}; expected a folder")
    return Path(path.replace("{repo}", context.repo)), float(max_mb), root or ""


class _Reading:
    """What the runs of a report hold, before it is placed in the snapshot."""

    def __init__(self, tree: SnapshotTree, root: str) -> None:
        self.tree = tree
        self.root = root
        self.items: list[RawItem] = []
        self.bad: list[Rejected] = []
        self.oddities: Counter[str] = Counter()
        self.suppressed = 0
        self.unread: set[str] = set()
        """Snapshot paths that the tool says it could not read."""
        self.tools: list[str] = []
        self.problem: str | None = None

    def read_run(self, run: object) -> None:
        """Add the results of one run."""
        if not isinstance(run, dict):
            self.problem = self.problem or "a run of the report is no object"
            return
        driver = section(section(run, "tool"), "driver")
        version = string(driver, "semanticVersion") or string(driver, "version")
        self.tools.append(f"{string(driver, 'name') or 'unnamed'} {version}".strip())
        uris, rules = UriReader(run, self.root), RuleBook(run)
        self._read_invocations(run, uris)
        results = run.get("results")
        if not isinstance(results, list):
            self.problem = self.problem or _why_no_results(run, self.tools[-1])
            return
        for result in results:
            self._read_result(result, uris, rules)

    def _read_invocations(self, run: Mapping[str, object], uris: UriReader) -> None:
        for invocation in array(run, "invocations"):
            if isinstance(invocation, dict) and invocation.get("executionSuccessful") is False:
                said = _one_line(string(invocation, "exitCodeDescription"))
                detail = f": {said}" if said else ""
                self.problem = self.problem or (
                    f"the report says that {self.tools[-1]} did not succeed{detail}"
                )
            for notice in array(invocation, "toolExecutionNotifications"):
                if string(notice, "level") == "error":
                    self._note_unread(notice, uris)

    def _note_unread(self, notice: object, uris: UriReader) -> None:
        for location in array(notice, "locations"):
            artifact = section(section(location, "physicalLocation"), "artifactLocation")
            for path in uris.candidates(artifact):
                try:
                    self.unread.add(self.tree.locate(path))
                except NotInSnapshotError:
                    continue

    def _read_result(self, result: object, uris: UriReader, rules: RuleBook) -> None:
        if not isinstance(result, dict):
            detail = reprlib.repr(result)
            self.bad.append(Rejected(reason="malformed", detail=detail, raw={"value": result}))
        elif _is_suppressed(result):
            self.suppressed += 1
        elif string(result, "kind") in NO_DEFECT:
            self.oddities[f"kind_{string(result, 'kind')}"] += 1
        elif string(result, "baselineState") == "absent":
            self.oddities["baseline_absent"] += 1
        else:
            self.items.append(self._item(result, uris, rules))

    def _item(self, result: dict[str, object], uris: UriReader, rules: RuleBook) -> RawItem:
        place = self._primary(result)
        paths = uris.candidates(section(place, "artifactLocation"))
        region = section(place, "region") or section(place, "contextRegion")
        first, last = line_range(region, lambda: self._text(paths))
        rule = rules.of(result)
        message = message_text(section(result, "message"), rule, rules.global_strings)
        fixes = [section(fix, "description") for fix in array(result, "fixes")]
        return RawItem(
            paths=paths,
            first=first,
            last=last,
            column=integer(region, "startColumn"),
            end_column=integer(region, "endColumn"),
            rule=rules.id_of(result) or None,
            title="" if message.strip() else rule.title,
            message=message,
            meaning=rule.meaning,
            severity=severity_of(result, rule),
            suggested_fix=next((string(f, "text") for f in fixes if string(f, "text")), None),
            raw=result,
        )

    def _primary(self, result: Mapping[str, object]) -> dict[str, object]:
        """The first physical location: by the standard the one to look at first."""
        places = [section(one, "physicalLocation") for one in array(result, "locations")]
        if len(places) > 1:
            self.oddities["several_locations"] += 1
        return next((place for place in places if place), {})

    def _text(self, paths: tuple[str, ...]) -> str:
        for path in paths:
            try:
                return self.tree.text(self.tree.locate(path))
            except NotInSnapshotError:
                continue
        return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _is_suppressed(result: Mapping[str, object]) -> bool:
    """Whether suppressions are in effect: there are some, and none is under review or rejected."""
    entries = array(result, "suppressions")
    states = [string(one, "status") or "accepted" for one in entries]
    return bool(entries) and all(state == "accepted" for state in states)


def _why_no_results(run: Mapping[str, object], tool: str) -> str:
    if array(section(run, "externalPropertyFileReferences"), "results"):
        return f"the results of {tool} are in other files; export them inline"
    found = reprlib.repr(run.get("results"))
    return f"the run of {tool} has no array of results but {found}: its scan did not take place"
