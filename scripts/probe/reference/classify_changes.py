"""What a diff shows by itself: the shape of a repair, of a feature, or of tidying.

Each observation is a named yes/no; what one is worth stands in ``classify_weights``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from probe.code.paths import PathRole, SourceScope
from probe.git.diff import CommitDiff, FileDiff
from probe.records import Commit
from probe.reference.classify_hunks import Edit, read_edit
from probe.reference.classify_lines import strip_hunk, style_of
from probe.reference.classify_rewrites import only_wording, same_code, same_rewrite

_MOST_LINES = 3000
"""Code lines read per commit; a longer diff has shown by then what it is."""
_MOST_NOTES = 400
"""Added test and documentation lines read per file."""

_NOVELTIES = frozenset(
    {"new definition", "private helper", "new option", "new entries", "new branch"}
)

_FAULT_NOTE = re.compile(
    r"\b(?:bug|fix(?:es|ed)?|regression|incorrect(?:ly)?|wrong(?:ly)?|crash(?:es|ed)?"
    r"|infinite|recursion|leak(?:s|ed)?|malformed|corrupt(?:ed)?|truncated|unexpected(?:ly)?"
    r"|previously|used to|instead of|no longer|should(?:n't| not)|must(?:n't| not)|do(?:es)?(?:n't| not)"
    r"|avoid(?:s|ing)?|prevent(?:s|ing)?|otherwise|silently|accidental(?:ly)?|ambiguous|guard"
    r"|cycl(?:e|ic)|vulnerab\w+|bypass\w*|injection|traversal|redos|overflow|invalid)\b",
    re.IGNORECASE,
)
_TEST_NAME = re.compile(
    r"^\s*(?:async\s+)?def\s+test_?(?P<py>\w+)|^\s*(?:it|test|describe)(?:\.\w+)?\s*\(\s*"
    r"(?P<js>\"[^\"]*\"|'[^']*'|`[^`]*`)"
)
_TEST_FAULT = re.compile(
    r"(?:^|[\W_])(?:issues?|bug|regression|gh|fix(?:es|ed)?|invalid|malformed|crash|error|raises?|throws?"
    r"|rejects?|fails?|recursion|cycl(?:e|ic)|limit|missing|broken|without|not|doesn't|unexpected"
    r"|corrupt(?:ed)?|truncated|empty|none|null|undefined|leak|race|preserves?d?|respects?"
    r"|ignores?|escape[sd]?|prevents?|avoids?|handles?)(?:[\W_]|$)|#\d{2,}",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"(?:^|[\s(])(?:#|GH-)\d{2,}\b|/issues/\d+|:issue:`\d+|\bissue[ _#]+\d+", re.I)
_NEWS_FIX = re.compile(
    r"^(?:[-*]|\s)*\s*(?:\W{0,3}(?:bug ?)?fix(?:e[sd])?\b|correct(?:ly|s|ed)?\b|prevent|avoid|do not\b|don't\b"
    r"|ensure\b|handle\b)|\b(?:fix(?:e[sd]|es)?|bug|regression|crash|incorrect(?:ly)?|no longer|wrong(?:ly)?"
    r"|properly|correctly)\b",
    re.IGNORECASE,
)
_NEWS_FEATURE = re.compile(
    r"^(?:[-*]|\s)*(?:add(?:s|ed)?|new|support|implement|allow|introduce)\b", re.I
)
_NEWS_PATH = re.compile(
    r"(?:^|/)(?:changes|changelog|history|news|release[-_]notes|whats-?new)[^/]*$", re.I
)
_FRAGMENT = re.compile(
    r"(?:^|/)(?:changes|newsfragments|changelog\.d|news|\.changeset)/(?P<name>[^/]+)$", re.I
)
_NEW_SINCE = re.compile(r"\.\. versionadded::|@since\b")
_DEPRECATED_SINCE = re.compile(r"\.\. deprecated::|@deprecated\b")
_BENCHMARK = re.compile(r"(?:^|/)(?:asv_bench|bench|benchmarks?|perf)/|[._-]bench\.", re.IGNORECASE)
_FRAGMENT_FIX = frozenset({"bugfix", "fix", "security"})
_FRAGMENT_FEATURE = frozenset({"feature", "feat"})


ONLY_IMPORTS = "only imports and comments change in production code"


@dataclass(slots=True)
class Changes:
    """One commit's diff in figures and named observations."""

    production: int = 0
    """Production files with a text change or a binary one."""
    readable: bool = False
    """Some production file's hunks were at hand."""
    whole: bool = True
    """All of the production hunks were read."""
    added: int = 0
    """Code lines added, without comments, docstrings, imports, formatting and moved lines."""
    removed: int = 0
    """Code lines removed, likewise."""
    test_added: int = 0
    test_removed: int = 0
    signals: set[str] = field(default_factory=set)
    """Names of what was observed."""
    inert: str = ""
    """Why production code behaves as before; empty where it may not."""
    key: tuple[int, int] | None = None
    """Hashes of all removed and of all added code, to recognise the inverse of a commit."""


def read_changes(commit: Commit, diff: CommitDiff | None, scope: SourceScope) -> Changes:
    """Observe a commit's diff.

    Without a diff, or where blobs are missing, file names and line counts alone speak.
    """
    changes = Changes()
    roles = [(change, scope.role(change.path)) for change in commit.files]
    production = [c for c, _ in roles if scope.is_production(c.path) and not c.submodule]
    changes.production = len(production)
    for change, role in roles:
        if role == "test" and not _BENCHMARK.search(change.path):
            changes.test_added += change.added or 0
            changes.test_removed += change.deleted or 0
    if not production:
        # where not even the paths can be read, the message decides
        if commit.files or not commit.truncated:
            changes.inert = _why_not_production(commit, [role for _, role in roles])
        return changes
    if diff is not None and not diff.missing:
        _read_files(changes, diff.files, scope)
    if not changes.readable:
        changes.added = sum(change.added or 0 for change in production)
        changes.removed = sum(change.deleted or 0 for change in production)
        if all(c.added == 0 and c.deleted == 0 and c.status in "MRTC" for c in production):
            changes.inert = "only renames or file modes of production files change"
    _observe_size(changes, commit, scope)
    return changes


def _why_not_production(commit: Commit, roles: Sequence[PathRole]) -> str:
    if not commit.files:
        return "no file changes"
    if all(change.submodule for change in commit.files):
        return "only submodule pointers change"
    kinds = sorted({str(role) for role in roles})
    return f"no production code changes, only {', '.join(kinds)}"


def _read_files(changes: Changes, files: Iterable[FileDiff], scope: SourceScope) -> None:
    edits: list[Edit] = []
    notes: list[str] = []
    imports = versions = comments = 0
    budget = _MOST_LINES
    for file in files:
        path = file.change.path
        if file.change.submodule:
            continue
        if not scope.is_production(path):
            _read_other(changes, file, scope.role(path))
            continue
        changes.readable = changes.readable or bool(file.hunks) or _is_unchanged(file)
        style = style_of(path)
        for hunk in file.hunks:
            if budget <= 0:
                break
            lines = strip_hunk(hunk, style)
            imports += lines.imports
            versions += lines.versions
            comments += len(lines.comments)
            notes.extend(lines.comments)
            if lines.removed or lines.added:
                edit = read_edit(lines, style)
                budget -= 0 if edit.formatting else len(edit.removed) + len(edit.added)
                edits.append(edit)
        changes.whole = changes.whole and not file.cut and budget > 0
    _sum_up(changes, edits, imports, versions)
    if any(_ISSUE.search(note) for note in notes):
        changes.signals.add("issue cited in code")
    if any(_FAULT_NOTE.search(note) for note in notes):
        changes.signals.add("comment explains a fault")
    if any(_NEW_SINCE.search(note) for note in notes):
        changes.signals.add("documented as new")
    if any(_DEPRECATED_SINCE.search(note) for note in notes):
        changes.signals.add("deprecates")


def _is_unchanged(file: FileDiff) -> bool:
    return file.change.added == 0 and file.change.deleted == 0


def _sum_up(changes: Changes, edits: list[Edit], imports: int, versions: int) -> None:
    if edits:
        changes.key = (
            hash(tuple(sorted(line for edit in edits for line in edit.removed))),
            hash(tuple(sorted(line for edit in edits for line in edit.added))),
        )
    live = _without_moves([edit for edit in edits if not edit.formatting])
    moved = sum(edit.moved for edit in edits)
    changes.added = sum(len(edit.added) for edit in live)
    changes.removed = sum(len(edit.removed) for edit in live)
    for edit in live:
        changes.signals |= edit.signals
    if live and all("annotation" in edit.signals for edit in live):
        changes.signals.add("annotations only")
    if _is_rename(live):
        changes.signals.add("names renamed")
    elif same_code(live):
        changes.signals.add("same code in other words")
    elif only_wording(live):
        changes.signals.add("wording only")
    elif same_rewrite(live):
        changes.signals.add("same rewrite throughout")
    if moved > max(6, changes.added):
        changes.signals.add("mostly moved code")
    if changes.readable and changes.whole and not live and not moved:
        changes.inert = _why_inert(edits, imports, versions)


def _why_inert(edits: list[Edit], imports: int, versions: int) -> str:
    if edits:
        return "production tokens are unchanged: formatting only"
    if versions:
        return "only a version changes in production code"
    if imports:
        return ONLY_IMPORTS
    return "only comments, docstrings, blanks, renames or modes change in production code"


def _without_moves(edits: list[Edit]) -> list[Edit]:
    """Take out lines that leave one hunk and arrive in another."""
    if len(edits) < 2:
        return edits
    gone = Counter(line for edit in edits for line in edit.removed if len(line) > 8)
    come = Counter(line for edit in edits for line in edit.added if len(line) > 8)
    both = gone & come
    if both.total() < 3:
        return edits
    left_gone, left_come = Counter(both), Counter(both)
    kept = []
    for edit in edits:
        edit.moved = _drop(edit, left_gone, left_come)
        if edit.removed or edit.added:
            kept.append(edit)
    return kept


def _drop(edit: Edit, gone: Counter[str], come: Counter[str]) -> int:
    before = len(edit.removed) + len(edit.added)
    for name, left in (("removed", gone), ("added", come)):
        rest = []
        for line in getattr(edit, name):
            if left[line] > 0:
                left[line] -= 1
            else:
                rest.append(line)
        setattr(edit, name, tuple(rest))
    return before - len(edit.removed) - len(edit.added)


def _is_rename(edits: list[Edit]) -> bool:
    """Every edit swaps the same few names for others, at least three times in all."""
    swaps = [edit.swaps for edit in edits]
    if not swaps or any(not swap for swap in swaps):
        return False
    pairs = {pair for swap in swaps for pair in swap}
    total = sum(len(swap) for swap in swaps)
    olds = {old for old, _ in pairs}
    return total >= 3 and len(pairs) <= 3 and len(olds) == len(pairs) and total > len(pairs)


def _read_other(changes: Changes, file: FileDiff, role: PathRole) -> None:
    path = file.change.path
    added = [line for hunk in file.hunks for line in hunk.added][:_MOST_NOTES]
    if _BENCHMARK.search(path):
        changes.signals.add("benchmarked")
        return
    if role == "test":
        _read_tests(changes, file, added)
        return
    fragment = _FRAGMENT.search(path)
    if fragment and file.change.status == "A":
        kinds = set(re.split(r"[._+-]", fragment["name"].lower()))
        if kinds & _FRAGMENT_FIX:
            changes.signals.add("news of a fix")
        elif kinds & _FRAGMENT_FEATURE:
            changes.signals.add("news of a feature")
    if _NEWS_PATH.search(path) and (file.change.added or 0) <= 25:
        text = " ".join(line.strip() for line in added)
        if _NEWS_FIX.search(text):
            changes.signals.add("news of a fix")
        elif _NEWS_FEATURE.search(text):
            changes.signals.add("news of a feature")
    elif role == "docs" and (file.change.added or 0) >= 3 and not fragment:
        changes.signals.add("documentation grows")


def _read_tests(changes: Changes, file: FileDiff, added: list[str]) -> None:
    for line in added:
        name = _TEST_NAME.match(line)
        if name and _TEST_FAULT.search(name["py"] or name["js"] or ""):
            changes.signals.add("test named after a fault")
        elif _ISSUE.search(line):
            changes.signals.add("issue cited in a test")
    if file.change.status == "A" and (file.change.added or 0) > 60:
        changes.signals.add("new test file")
    for hunk in file.hunks:
        if hunk.removed and hunk.added and len(hunk.removed) <= 12:
            changes.signals.add("expectation changed")
            return


def _observe_size(changes: Changes, commit: Commit, scope: SourceScope) -> None:
    size = changes.added + changes.removed
    tested = changes.test_added > 0
    signals = changes.signals
    if size <= 12:
        signals.add("very small")
    elif size <= 40:
        signals.add("small")
    elif size > 400:
        signals.add("huge")
    elif size > 120:
        signals.add("large")
    if tested:
        signals.add("tested")
        if size <= 40:
            signals.add("small and tested")
        if changes.test_removed > changes.test_added:
            signals.add("tests shrink")
    else:
        signals.add("untested")
    if changes.readable and not changes.added:
        signals.add("only removes")
    if changes.removed and changes.added and not signals & _NOVELTIES:
        signals.add("in place")
    if {"raises", "guard"} <= signals and size <= 40 and not signals & _NOVELTIES:
        signals.add("rejects more")
    if changes.removed == 0 and changes.added > 0:
        signals.add("only adds")
    if changes.production > 6:
        signals.add("many files")
    new = [c for c in commit.files if c.status == "A" and scope.is_production(c.path)]
    if new:
        signals.add("new production file")
    elif not signals & _NOVELTIES:
        signals.add("nothing new")
