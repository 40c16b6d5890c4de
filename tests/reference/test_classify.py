"""The traps of real histories, each on a small commit."""

import pytest
from classify_samples import FIXED_FILES as FIXED
from classify_samples import GUARD, LOOSE, SCOPE, STRICT, TEST, Sides, sample, verdict

from probe.code.paths import SourceScope
from probe.errors import GitError
from probe.git.diff import CommitDiff
from probe.reference.classify import RULES_VERSION, classify, classify_window


def test_prefixed_fix_of_production_code_is_a_fix_with_high_confidence() -> None:
    answer = verdict("fix(lists): return None for an empty list (#12)", FIXED)
    assert answer.is_fix is True
    assert answer.confidence > 0.95
    assert "prefix fix" in answer.rationale
    assert (answer.provenance.engine, answer.provenance.engine_version) == (
        "heuristic",
        RULES_VERSION,
    )


@pytest.mark.parametrize(
    "subject",
    [
        "Fix(lists)!: return None for an empty list",
        "fix!(lists): return None for an empty list",
        "BUG: Return None for an empty list (#12)",
        "ROB: Tolerate empty lists",
        "SEC: Limit list size",
        "[fix] empty lists",
        "🐛 empty lists",
        "Merge commit from fork",
        "Fix crash on an empty list",
        "Corrige le cas de la liste vide",
        "修复空列表崩溃",
    ],
)
def test_conventions_and_plain_words_of_a_fix(subject: str) -> None:
    assert verdict(subject, FIXED).is_fix is True


@pytest.mark.parametrize(
    ("subject", "files"),
    [
        ("fix: run tests on Python 3.13", {".github/workflows/ci.yml": [(["a"], ["b"])]}),
        ("fix: flaky test", {"tests/test_first.py": [TEST]}),
        ("docs: fix typo in guide", {"docs/guide.md": [(["teh"], ["the"])]}),
        ("fix(deps): lock files", {"package-lock.json": [(["1"], ["2"])]}),
        ("fix: package data", {"pyproject.toml": [(["a = 1"], ["a = 2"])]}),
    ],
)
def test_a_fix_outside_production_code_is_none(subject: str, files: dict[str, list[Sides]]) -> None:
    answer = verdict(subject, files)
    assert answer.is_fix is False
    assert "no production code changes" in answer.rationale


def test_fix_beside_a_huge_lock_file_is_found() -> None:
    lock: Sides = ([f'"a{n}": "1"' for n in range(6500)], [f'"a{n}": "2"' for n in range(6500)])
    answer = verdict("fix: empty list", {"package-lock.json": [lock], **FIXED})
    assert answer.is_fix is True


def test_merge_is_no_fix_but_a_single_parent_fork_merge_is() -> None:
    assert verdict("Merge commit from fork", FIXED, parents=2).is_fix is False
    assert verdict("fix: empty list", FIXED, parents=2).is_fix is False
    assert verdict("Merge commit from fork", FIXED, parents=1).is_fix is True


def test_root_commit_is_no_fix() -> None:
    assert verdict("fix: everything", FIXED, parents=0).is_fix is False


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ('Revert "fix(lists): empty list (#12)"', ""),
        ("fix(lists): revert #12", ""),
        (
            "fix: go back to raising",
            "This reverts commit 0123456789abcdef0123456789abcdef01234567.",
        ),
        ("revert: fix(lists): empty list", ""),
    ],
)
def test_a_revert_titled_fix_is_none(subject: str, body: str) -> None:
    answer = verdict(subject, FIXED, body=body)
    assert answer.is_fix is False
    assert answer.rationale == "reverts an earlier commit"


def test_revert_of_a_revert_counts_as_what_it_brings_back() -> None:
    assert verdict('Revert "Revert "fix(lists): empty list""', FIXED).is_fix is True
    assert verdict('Reapply "fix(lists): empty list"', FIXED).is_fix is True
    feature = {"lib/new.py": [([], ["def sort_all(items):", "    return sorted(items)"])]}
    assert verdict('Revert "Revert "feat: sort all lists""', feature).is_fix is False
    assert verdict('Revert "Revert "Merge branch stable into main""', FIXED).is_fix is False


def test_exact_inverse_of_an_earlier_diff_is_a_revert_whatever_its_title() -> None:
    old, new = GUARD
    first, first_diff = sample("fix: empty list", {"lib/first.py": [(old, new)]}, number=1)
    undo, undo_diff = sample("fix: raise again", {"lib/first.py": [(new, old)]}, number=2)
    again, again_diff = sample("fix: empty list, again", {"lib/first.py": [(old, new)]}, number=3)
    answers = list(
        classify_window([first, undo, again], [first_diff, undo_diff, again_diff], SCOPE, STRICT)
    )
    assert [answer.is_fix for answer in answers] == [True, False, True]
    assert answers[1].rationale == "reverts an earlier commit"


def test_feature_whose_body_closes_an_issue_is_a_feature() -> None:
    new = {
        "lib/new.py": [([], ["def sort_all(items, reverse=False):", "    return sorted(items)"])]
    }
    answer = verdict("feat: support sorting of all lists, fixes #123", new, body="Fixes #123")
    assert answer.is_fix is False


def test_squash_body_with_a_bug_fixes_heading_does_not_make_a_feature_a_fix() -> None:
    body = "## Bug Fixes\n\n* fix crash in parser\n* fix wrong order\n\n- [ ] fixes a bug"
    new = {
        "lib/new.py": [([], ["def sort_all(items):", "    return sorted(items)"])],
        "docs/a.md": [],
    }
    assert verdict("feat: sort all lists", new, body=body).is_fix is False


def test_release_commit_that_lists_every_fix_is_none() -> None:
    body = "### Bug Fixes\n\n* empty list ([#12](https://example.org/issues/12))\n* crash"
    version: Sides = (['__version__ = "1.2.3"'], ['__version__ = "1.2.4"'])
    notes: Sides = ([], ["* fix: crash on empty list"])
    for subject in ("chore(release): 1.2.4 [skip ci]", "v1.2.4", "Release 1.2.4", "REL: 1.2.4"):
        answer = verdict(subject, {"lib/_info.py": [version], "CHANGELOG.md": [notes]}, body=body)
        assert answer.is_fix is False
        assert answer.rationale == "only a version changes in production code"


@pytest.mark.parametrize(
    "subject",
    [
        "fix(deps): bump left-pad from 1.0 to 1.1",
        "Bump left-pad from 1.0 to 1.1",
        "chore: update `left-pad` to `1.1`",
        "[pre-commit.ci] auto fixes from pre-commit.com hooks",
    ],
)
def test_dependency_bots_are_none_even_where_code_follows(subject: str) -> None:
    assert verdict(subject, {"package.json": [(["1.0"], ["1.1"])], **FIXED}).is_fix is False


def test_submodule_pointer_alone_is_none() -> None:
    commit, diff = sample(
        "fix: sync integration tests",
        {"lib/sub": []},
        changes={"lib/sub": {"submodule": True, "added": None, "deleted": None}},
    )
    answer = classify(commit, diff, SCOPE, STRICT)
    assert (answer.is_fix, answer.rationale) == (False, "only submodule pointers change")


def test_file_mode_and_pure_rename_are_none() -> None:
    mode = verdict("fix: permissions", {"lib/run.py": []})
    moved = verdict(
        "fix: move module",
        {"lib/b.py": []},
        changes={"lib/b.py": {"status": "R", "old_path": "lib/a.py"}},
    )
    assert mode.is_fix is False
    assert moved.is_fix is False


def test_formatter_run_is_none_of_any_size() -> None:
    hunks = [
        (
            [f"    call_{n}(first, 'second', third)"],
            [f"    call_{n}(", "        first,", '        "second",', "        third,", "    )"],
        )
        for n in range(900)
    ]
    answer = verdict("fix: style", {"lib/a.py": hunks, "lib/b.py": hunks})
    assert (answer.is_fix, answer.rationale) == (
        False,
        "production tokens are unchanged: formatting only",
    )


def test_crlf_conversion_is_none() -> None:
    answer = verdict(
        "fix: line endings", {"lib/a.py": [(["x = 1\r", "y = 2\r"], ["x = 1", "y = 2"])]}
    )
    assert answer.is_fix is False


def test_dropped_arguments_are_not_formatting() -> None:
    edit: Sides = (
        ["    return app.fetch(event.request, {}, event)"],
        ["    return app.fetch(event.request)"],
    )
    assert verdict("fix(worker): correct arguments", {"lib/worker.ts": [edit]}).is_fix is True


@pytest.mark.parametrize(
    "edit",
    [
        (["    # teh list"], ["    # the list"]),
        (["    The first item of teh list"], ["    The first item of the list"]),
        (["    >>> first([1])", "    2"][:1], ["    >>> first([2])"]),
        ([], ['    """Return the first item."""']),
    ],
    ids=["comment", "docstring", "doctest", "new docstring"],
)
def test_comments_docstrings_and_doctests_are_none(edit: Sides) -> None:
    assert verdict("fix: first item", {"lib/first.py": [edit]}).is_fix is False


def test_a_forgotten_import_is_a_fix_where_the_message_says_so_and_tidied_ones_are_none() -> None:
    files: dict[str, list[Sides]] = {
        "lib/first.py": [(["from a import b"], ["from a import b, c"])]
    }
    assert verdict("Fix NameError when a page cannot be written", files).is_fix is True
    assert verdict("fix: first item", files).is_fix is True
    assert verdict("fix: unused import", files).is_fix is False
    assert verdict("chore: imports", files).is_fix is False


def test_python_annotations_alone_are_none_but_public_typing_corrected_is_a_fix() -> None:
    edit: Sides = (
        ["def first(items: list) -> int:"],
        ["def first(items: list[int]) -> int | None:"],
    )
    assert verdict("chore: satisfy mypy", {"lib/first.py": [edit]}).is_fix is False
    assert verdict("fix(typing): first returns None too", {"lib/first.py": [edit]}).is_fix is True


def test_vendored_code_patched_by_hand_counts_and_an_update_does_not() -> None:
    scope = SourceScope()
    assert verdict(
        "fix: crash in vendored parser", {"vendor/parse.py": [GUARD]}, scope=scope
    ).is_fix
    assert verdict(
        "fix(vendor): never return an empty slug", {"vendor/parse.py": [GUARD]}, scope=scope
    ).is_fix
    update = verdict(
        "fix: sync vendored parser with upstream", {"vendor/parse.py": [GUARD]}, scope=scope
    )
    assert (update.is_fix, update.rationale) == (False, "an update of vendored code")
    many = {f"vendor/p{n}.py": [GUARD] for n in range(6)}
    assert verdict("fix: vendored parser", many, scope=scope).is_fix is False


def test_fix_in_a_template_or_query_is_a_fix() -> None:
    edit: Sides = (["select * from t where a = null"], ["select * from t where a is null"])
    assert verdict("fix: rows without a", {"lib/rows.sql": [edit]}).is_fix is True
    assert (
        verdict("fix: escape name", {"lib/page.j2": [(["{{ n }}"], ["{{ n|e }}"])]}).is_fix is True
    )


def test_words_hidden_under_another_prefix_count_where_the_project_is_loose() -> None:
    subject = "refactor: cleanly reject invalid counts"
    edit: Sides = (
        ["  derive(count)"],
        [
            "  if (!Number.isSafeInteger(count)) {",
            "    throw new Error('invalid')",
            "  }",
            "  derive(count)",
        ],
    )
    test: Sides = ([], ["test('rejects invalid counts', () => {})"])
    files = {"lib/derive.ts": [edit], "tests/derive.test.ts": [test]}
    assert verdict(subject, files, habits=LOOSE).is_fix is True
    strict = verdict("refactor: tidy counts", {"lib/derive.ts": [edit]}, habits=STRICT)
    loose = verdict("refactor: tidy counts", {"lib/derive.ts": [edit]}, habits=LOOSE)
    assert strict.is_fix is False
    assert strict.confidence > loose.confidence


def test_diff_alone_carries_a_small_tested_guard_without_any_words() -> None:
    assert verdict("empty lists", FIXED, habits=LOOSE).is_fix is True
    assert verdict("", FIXED, habits=LOOSE).is_fix is True


def test_new_function_with_tests_and_docs_and_without_words_is_none() -> None:
    files = {
        "lib/new.py": [([], ["def sort_all(items, reverse=False):", "    return sorted(items)"])],
        "tests/test_new.py": [([], ["def test_sort_all():", "    assert sort_all([2, 1])"])],
        "docs/guide.md": [([], ["one", "two", "three"])],
    }
    assert verdict("sorting", files, habits=LOOSE).is_fix is False


def test_rename_of_a_variable_everywhere_is_none() -> None:
    hunks: list[Sides] = [
        ([f"    total += old * {n}"], [f"    total += new * {n}"]) for n in range(5)
    ]
    assert verdict("clearer name", {"lib/a.py": hunks}, habits=LOOSE).is_fix is False


def test_without_a_diff_message_and_paths_decide() -> None:
    commit, _ = sample("fix: empty list", FIXED)
    assert classify(commit, None, SCOPE, STRICT).is_fix is True
    other, _ = sample("feat: add sorting", FIXED)
    assert classify(other, None, SCOPE, STRICT).is_fix is False


def test_window_goes_on_without_the_diffs_of_merges_and_rejects_a_stray_one() -> None:
    merge, _ = sample("Merge branch a", FIXED, number=1, parents=2)
    fix, diff = sample("fix: empty list", FIXED, number=2)
    answers = list(classify_window([merge, fix], [diff], SCOPE))
    assert [(a.commit, a.is_fix) for a in answers] == [(merge.sha, False), (fix.sha, True)]
    with pytest.raises(GitError, match="out of window order"):
        list(classify_window([fix, merge], [sample("x", FIXED, number=9)[1]], SCOPE))


def test_commit_with_two_thousand_files_is_read() -> None:
    files = {f"lib/m{n}.py": [([f"x = {n}"], [f"x = {n} + 1"])] for n in range(2000)}
    assert verdict("chore: touch all", files).is_fix is False


@pytest.mark.parametrize(("subject", "said"), [("fix: empty list", True), ("docs: lists", False)])
def test_a_commit_whose_paths_cannot_be_read_goes_by_its_message(subject: str, said: bool) -> None:
    commit, diff = sample(subject, FIXED)
    lost = commit.model_copy(update={"files": (), "truncated": True})
    unlisted = CommitDiff(diff.sha, (), problem="its tree is missing", listed=False)
    [answer] = classify_window([lost], [unlisted], SCOPE)
    assert answer.is_fix is said
    assert "prefix" in answer.rationale
