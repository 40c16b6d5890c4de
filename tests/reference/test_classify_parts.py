"""Messages, habits, stripped lines and hunks, piece by piece."""

from pathlib import Path

import pytest
from classify_samples import FIXED_FILES, SCOPE, sample
from hypothesis import given
from hypothesis import strategies as st

from probe.git.diff import Hunk
from probe.records import read_json, write_json
from probe.reference.classify_changes import read_changes
from probe.reference.classify_hunks import Edit, read_edit
from probe.reference.classify_lines import Style, strip_hunk
from probe.reference.classify_message import claim, parse_message
from probe.reference.habits import Habits


def edit_of(removed: list[str], added: list[str], style: Style = "hash") -> Edit:
    hunk = Hunk(1, len(removed), 1, len(added), tuple(removed), tuple(added))
    return read_edit(strip_hunk(hunk, style), style)


@pytest.mark.parametrize(
    ("subject", "prefix", "kind", "scope"),
    [
        ("fix(a, b)!: x", "fix", "fix", "a, b"),
        ("BUG/TST: fix a race", "bug", "fix", ""),
        ("STY: Use zip", "sty", "style", ""),
        ("optimizer/normalize: fix clauses", None, None, ""),
        ("Fix #3084: Correct flag", None, None, ""),
        ("Update the parser", None, None, ""),
    ],
)
def test_prefixes(subject: str, prefix: str | None, kind: str | None, scope: str) -> None:
    message = parse_message(subject, "")
    assert (message.prefix, message.kind, message.scope) == (prefix, kind, scope)


def test_claim_leaves_out_references_quotes_and_capitals() -> None:
    assert claim("support RESPECT NULLS in `fix()`, fixes #12 (#13)").split() == ["support", "in"]
    assert claim("handle it, see https://example.org/issues/7").startswith("handle it")


def test_reverts_are_counted_from_the_outside_in() -> None:
    assert parse_message('Revert "fix: a"', "").reverts == 1
    assert parse_message('Revert "Revert "fix: a""', "").reverts == 2
    assert parse_message('Reapply "fix: a"', "").reverts == 2
    assert parse_message("fix: revert button does nothing", "").reverts == 0


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_message_parses_and_never_negatively(subject: str, body: str) -> None:
    message = parse_message(subject, body)
    assert message.reverts >= 0
    assert message.text == message.text.lower()


def test_habits_count_prefixes_of_commits_with_production_code(tmp_path: Path) -> None:
    subjects = ["fix: a", "feat: b", "Merge commit from fork", "plain words"]
    commits = [sample(s, FIXED_FILES, number=n)[0] for n, s in enumerate(subjects, 1)]
    commits.append(sample("docs: c", {"docs/a.md": []}, number=8)[0])
    commits.append(sample("fix: merged", FIXED_FILES, number=9, parents=2)[0])
    habits = Habits.learn(commits, SCOPE)
    assert (habits.commits, habits.prefixed, habits.fixes, habits.forks) == (4, 0.75, 0.5, 1)
    assert habits.prefixes == ("feat", "fix")
    write_json(tmp_path / "habits.json", habits)
    assert read_json(tmp_path / "habits.json", Habits) == habits


def test_strictness_runs_from_projects_without_fix_prefixes_to_those_with_many() -> None:
    assert Habits(commits=100, prefixed=0.9, fixes=0.0).strictness == 0
    assert Habits(commits=100, prefixed=1.0, fixes=0.3).strictness == 1
    assert Habits(commits=3, prefixed=1.0, fixes=1.0).strictness == 0.5


def test_stripping_keeps_code_and_counts_the_rest() -> None:
    added = [
        '"""Summary line.',
        "More of it.",
        '"""',
        "import os",
        "from a import (",
        "    b,",
        ")",
        "# why",
        "x = f(1)  # because",
        '__version__ = "1.2"',
    ]
    lines = strip_hunk(Hunk(0, 0, 1, 10, (), tuple(added)), "hash")
    assert lines.added == ("x = f(1)",)
    assert (lines.imports, lines.versions, len(lines.comments)) == (4, 1, 4)


@pytest.mark.parametrize(
    "line",
    ["state, operand, foo", "return value is not None and other", "call(a, b, c)", "if a: b = c"],
)
def test_code_is_not_taken_for_prose(line: str) -> None:
    assert strip_hunk(Hunk(0, 0, 1, 1, (), (line,)), "hash").added == (line,)


@pytest.mark.parametrize(
    ("removed", "added", "signal"),
    [
        (["    x()"], ["    if x is None:", "        return", "    x()"], "guard"),
        (["    if a:"], ["    if a and b:"], "condition changed"),
        (["    a < b"], ["    a <= b"], "operator changed"),
        (["    LIMIT = 10"], ["    LIMIT = 20"], "literal changed"),
        ([], ["    raise ValueError(x)"], "raises"),
        ([], ["def public(a):"], "new definition"),
        ([], ["def _private(a):"], "private helper"),
        ([], ['    "A": exp.A,'], "new entries"),
        (["def f(a):"], ["def f(a: int) -> None:"], "annotation"),
    ],
)
def test_shapes_of_a_hunk(removed: list[str], added: list[str], signal: str) -> None:
    assert signal in edit_of(removed, added).signals


def test_annotation_is_no_lambda_entry() -> None:
    edit = edit_of(['"A": lambda self: self.a,'], ['"A": lambda self: self.b,'])
    assert "annotation" not in edit.signals


@given(
    st.lists(st.sampled_from(["a", "(", ")", ",", "1", "'s'", "=", "if", "{", "}"]), max_size=12)
)
def test_a_hunk_against_itself_is_formatting(parts: list[str]) -> None:
    line = "y " + " ".join(parts)
    assert edit_of([line], [line], "slash").formatting


def test_moved_code_is_not_counted_as_new() -> None:
    body = [f"    long_statement_number_{n}()" for n in range(8)]
    commit, diff = sample("move", {"lib/a.py": [(body, [])], "lib/b.py": [([], body)]})
    changes = read_changes(commit, diff, SCOPE)
    assert (changes.added, changes.removed) == (0, 0)
    assert "mostly moved code" in changes.signals
    assert changes.inert == ""


@pytest.mark.parametrize(
    ("path", "status", "line", "signal"),
    [
        ("CHANGES/12.bugfix.rst", "A", "Order is kept.", "news of a fix"),
        ("CHANGES/12.feature.rst", "A", "Sorting.", "news of a feature"),
        ("CHANGES.rst", "M", "-   Fix the order of flags. :issue:`12`", "news of a fix"),
        ("CHANGES.rst", "M", "-   Add sorting.", "news of a feature"),
        ("tests/test_a.py", "M", "def test_invalid_order():", "test named after a fault"),
        ("tests/a.spec.ts", "M", "  // see #1234", "issue cited in a test"),
    ],
)
def test_what_accompanies_a_change(path: str, status: str, line: str, signal: str) -> None:
    commit, diff = sample(
        "x",
        {"lib/a.py": [(["a = 1"], ["a = 2"])], path: [([], [line])]},
        changes={path: {"status": status}},
    )
    assert signal in read_changes(commit, diff, SCOPE).signals


@pytest.mark.parametrize(
    ("added", "signal"),
    [
        ("    warnings.warn('use b', DeprecationWarning, stacklevel=2)", "deprecates"),
        ("    if name in self._cache:", "caches"),
        ("@lru_cache", "caches"),
    ],
)
def test_code_that_deprecates_or_caches_is_observed(added: str, signal: str) -> None:
    assert signal in edit_of(["    return a"], ["    return b", added]).signals


def test_code_about_a_cache_that_was_there_before_is_no_new_cache() -> None:
    assert "caches" not in edit_of(["    x = cache[a]"], ["    x = cache[b]"]).signals


def test_docstrings_that_tell_a_version_are_observed() -> None:
    note = ['    """Do it.', "", "    .. versionadded:: 3.2", '    """', "    return a"]
    commit, diff = sample("do it", {"lib/a.py": [([], note)]})
    assert "documented as new" in read_changes(commit, diff, SCOPE).signals


def test_benchmarks_are_no_tests_of_a_repair() -> None:
    bench = {"asv_bench/walk.py": [([], ["def time_walk():", "    walk()"])]}
    commit, diff = sample("walk", {"lib/a.py": [(["x = 1"], ["x = 2"])], **bench})
    signals = read_changes(commit, diff, SCOPE).signals
    assert {"benchmarked", "untested"} <= signals


def test_shrinking_tests_are_observed() -> None:
    tests = {
        "tests/test_a.py": [(["    assert a() == 1", "    assert b() == 2"], ["    assert a()"])]
    }
    commit, diff = sample("a", {"lib/a.py": [(["x = 1"], ["x = 2"])], **tests})
    assert "tests shrink" in read_changes(commit, diff, SCOPE).signals
