"""Known traps of messages and of the shape of histories, each on a small repository.

A commit is a fix when any part of it corrects wrong behaviour of the project's own production
code. Each test says which verdict follows from that, and why.
"""

from pathlib import Path

import pytest
from mined import (
    CLAMP_WRONG,
    CLAMPED,
    FIRST_RIGHT,
    FIRST_WRONG,
    GUARDED,
    LISTS,
    LOOSE,
    TEST_FIRST,
    begin,
    classified,
    mine,
    place,
)

TEMPLATE = """## Description

What does this change do? Why is it needed?

## Type of change

- [ ] Bug fix (non-breaking change which fixes an issue)
- [x] New feature (non-breaking change which adds functionality)
- [ ] Breaking change (fix or feature that would break wrong or broken uses)

## Checklist

- [x] I have added tests that prove my fix is effective or that my feature works
- [x] The test suite no longer fails or crashes
"""
FEATURE = '''

def chunks(items, size):
    """Lists of ``size`` items each."""
    return [items[n : n + size] for n in range(0, len(items), size)]
'''
TEST_CHUNKS = "def test_chunks():\n    assert chunks([1, 2, 3], 2) == [[1, 2], [3]]\n"


def with_feature(text: str) -> dict[str, str]:
    return {
        "pkg/lists.py": text + FEATURE,
        "tests/test_lists.py": TEST_CHUNKS,
        "docs/guide.md": "# Guide\n\nUse `chunks` to cut lists into pieces.\n\nIt takes a size.\n",
    }


@pytest.mark.parametrize(
    "subject", ["fix: raise on empty lists as before", "Simplify first", "fix(lists): speed"]
)
def test_a_revert_titled_fix_is_no_fix_and_takes_the_reverted_fix_along(
    tmp_path: Path, subject: str
) -> None:
    """It says no more than that something was taken back; the defect of T0 stands again at T1."""
    history, t0 = begin(tmp_path)
    tests = "tests/test_lists.py"
    fix = history.commit(
        {"pkg/lists.py": GUARDED, tests: TEST_FIRST}, "fix: first of an empty list raises"
    )
    undo = history.commit({"pkg/lists.py": LISTS, tests: None}, subject)
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.why(undo) == "reverts an earlier commit"
    assert mined.presences[fix].verdict == "keep"
    assert mined.bugs == []
    assert [(item.commit, item.detail) for item in mined.merged.left_out] == [
        (fix, f"by {undo[:12]}")
    ]


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("fix: bring back the old first", "This reverts commit {sha}."),
        ('fix: revert "first of an empty list raises"', ""),
        ('Revert "fix: first of an empty list raises" (#14)', ""),
    ],
)
def test_a_revert_that_says_so_is_none_even_with_another_change_beside_it(
    tmp_path: Path, subject: str, body: str
) -> None:
    history, t0 = begin(tmp_path)
    fix = history.commit({"pkg/lists.py": GUARDED}, "fix: first of an empty list raises")
    files = {"pkg/lists.py": LISTS, "README.md": "# pkg\n\nLists are never empty.\n"}
    undo = history.commit(files, f"{subject}\n\n{body.format(sha=fix)}")
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.verdicts[undo].is_fix is False
    assert mined.bugs == []


@pytest.mark.parametrize(
    "again",
    [
        'Revert "Revert "fix: first of an empty list raises""',
        'Reapply "fix: first of an empty list raises"',
        "fix: first of an empty list raises, again",
    ],
)
def test_a_revert_of_a_revert_is_one_bug_with_the_fix_that_it_restores(
    tmp_path: Path, again: str
) -> None:
    """What it brings back is a fix; both commits correct one defect of T0."""
    history, t0 = begin(tmp_path)
    fix = history.commit({"pkg/lists.py": GUARDED}, "fix: first of an empty list raises")
    undo = history.commit({"pkg/lists.py": LISTS}, 'Revert "fix: first of an empty list raises"')
    redo = history.commit({"pkg/lists.py": GUARDED}, again)
    mined = mine(history, t0)
    assert mined.fixes == [fix, redo]
    assert mined.verdicts[undo].is_fix is False
    (bug,) = mined.bugs
    assert bug.fix_commits == (fix, redo)
    assert bug.fix_rank == 1
    assert mined.merged.left_out == []


def test_a_revert_of_what_the_snapshot_had_is_none_by_definition(tmp_path: Path) -> None:
    """Reverts are no fixes, even where the feature that goes was faulty."""
    history, _ = begin(tmp_path)
    t0 = history.commit(with_feature(LISTS), "feat: chunks (#7)")
    history.commit({"pkg/lists.py": LISTS}, 'Revert "feat: chunks (#7)"\n\nIt crashes.')
    assert mine(history, t0).fixes == []


def test_a_revert_of_a_reverted_feature_is_a_feature(tmp_path: Path) -> None:
    history, t0 = begin(tmp_path)
    history.commit(with_feature(LISTS), "feat: chunks")
    history.commit({"pkg/lists.py": LISTS}, 'Revert "feat: chunks"')
    history.commit(with_feature(LISTS), 'Revert "Revert "feat: chunks""')
    assert mine(history, t0).fixes == []


def test_a_fix_cherry_picked_to_two_branches_is_one_bug_with_both_commits(tmp_path: Path) -> None:
    """Both branches land in the window; T0 has the defect once."""
    history, t0 = begin(tmp_path)
    history.branch("stable", at=t0)
    history.commit({"README.md": "# pkg\n\nStable.\n"}, "docs: name the branch")
    picked = history.commit(
        {"pkg/lists.py": GUARDED},
        "fix: first of an empty list raises (#12)\n\n(cherry picked from commit 0123456789abcdef)",
    )
    history.switch("main")
    history.commit({"pkg/sets.py": "EMPTY = frozenset()\n"}, "feat: sets")
    fix = history.commit(
        {"pkg/lists.py": GUARDED, "tests/test_lists.py": TEST_FIRST},
        "fix: first of an empty list raises (#12)",
    )
    merge = history.merge("stable", message="Merge branch 'stable'")
    mined = mine(history, t0)
    assert set(mined.fixes) == {fix, picked}
    assert merge not in {commit.sha for commit in mined.commits}
    (bug,) = mined.bugs
    assert set(bug.fix_commits) == {fix, picked}
    assert bug.fix_rank == 1
    assert bug.primary.path == "pkg/lists.py"


@pytest.mark.parametrize(
    "subject",
    [
        "[3.x] fix: first of an empty list raises (#13)",
        "Backport: first of an empty list raises",
        "fix: an empty list has no first item",
    ],
)
def test_a_backport_under_another_title_is_the_same_bug(tmp_path: Path, subject: str) -> None:
    """The same lines of the same file are corrected; a title may say it in other words."""
    history, t0 = begin(tmp_path)
    history.branch("3.x", at=t0)
    backport = history.commit({"pkg/lists.py": GUARDED}, subject)
    history.switch("main")
    fix = history.commit({"pkg/lists.py": GUARDED}, "fix: first of an empty list raises (#12)")
    history.merge("3.x")
    mined = mine(history, t0)
    assert {sha for bug in mined.bugs for sha in bug.fix_commits} >= {fix}
    assert len(mined.bugs) == 1
    assert set(mined.bugs[0].fix_commits) == {fix, backport}


def test_two_fixes_of_one_function_stay_two_bugs(tmp_path: Path) -> None:
    """The counterpart of the cherry-pick: the same place and much the same words."""
    history, t0 = begin(tmp_path)
    one = history.commit({"pkg/lists.py": CLAMPED}, "fix: clamp returns the wrong bound (#3)")
    both = CLAMPED.replace("return min(value, high)", "return value if value < high else high")
    two = history.commit({"pkg/lists.py": both}, "fix: clamp of a NaN is the wrong bound (#4)")
    mined = mine(history, t0)
    assert [bug.fix_commits for bug in mined.bugs] == [(one,), (two,)]


@pytest.mark.parametrize(
    "message",
    [
        "feat: cut lists into chunks\n\nFixes #123",
        "Add chunks, fixes #123",
        "Support chunks (closes #123)\n\nThis fixes #123 and resolves #124.",
        f"feat: chunks (#12)\n\n{TEMPLATE}",
        "feat: chunks (#12)\n\n* add chunks\n\n* fix typo\n\n* fix failing test\n\n* fix crash",
    ],
)
def test_a_feature_that_closes_an_issue_or_fills_in_a_form_is_no_fix(
    tmp_path: Path, message: str
) -> None:
    """The tracker's word for a request that is done is "fixes"; nothing was wrong before."""
    history, t0 = begin(tmp_path)
    history.commit(with_feature(LISTS), message)
    assert mine(history, t0).fixes == []
    assert mine(history, t0, habits=LOOSE).fixes == []


def test_a_squashed_fix_with_a_long_form_for_a_body_is_found(tmp_path: Path) -> None:
    history, t0 = begin(tmp_path)
    fix = history.commit(
        {"pkg/lists.py": GUARDED, "tests/test_lists.py": TEST_FIRST},
        f"First of an empty list (#12)\n\n{TEMPLATE}\n" + "* wip\n\n* review\n\n" * 200,
    )
    mined = mine(history, t0, habits=LOOSE)
    assert mined.fixes == [fix]
    assert len(mined.bugs) == 1


def test_a_squashed_feature_that_also_repairs_is_a_fix_when_its_subject_says_so(
    tmp_path: Path,
) -> None:
    """Mixed commits count: a part of it corrects wrong behaviour that T0 had."""
    history, t0 = begin(tmp_path)
    files = with_feature(CLAMPED)
    fix = history.commit(files, "Fix the lower bound of clamp and add chunks (#12)")
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert place("pkg/lists.py", LISTS, CLAMP_WRONG) in mined.candidates[fix].snapshot_locations


def test_in_a_merge_workflow_the_members_are_the_fixes_and_the_merge_is_none(
    tmp_path: Path,
) -> None:
    history, t0 = begin(tmp_path)
    history.branch("fix-clamp", at=t0)
    fix = history.commit({"pkg/lists.py": CLAMPED}, "Correct the bound of clamp")
    test = history.commit(
        {"tests/test_lists.py": "def test_clamp():\n    assert clamp(-1, 0, 9) == 0\n"},
        "Test the fix of clamp",
    )
    history.switch("main")
    history.commit({"docs/guide.md": "# Guide\n"}, "Guide")
    merge = history.merge(
        "fix-clamp",
        message="Merge pull request #12 from ada/fix-clamp\n\nFix wrong bound of clamp",
    )
    after = history.commit(
        {"pkg/lists.py": CLAMPED.replace(FIRST_WRONG, FIRST_RIGHT)}, "Fix first of an empty list"
    )
    mined = mine(history, t0)
    assert merge not in {commit.sha for commit in mined.commits}
    assert mined.verdicts[test].is_fix is False
    assert mined.fixes == [fix, after]
    assert [bug.fix_commits for bug in mined.bugs] == [(fix,), (after,)]
    assert mined.bugs[0].primary == place("pkg/lists.py", LISTS, CLAMP_WRONG)


def test_a_defect_born_in_a_merged_branch_is_none_of_the_snapshot(tmp_path: Path) -> None:
    """The branch left before T0 and was merged after it, so T0 never had its code."""
    history, start = begin(tmp_path)
    history.branch("sets", at=start)
    wrong = "def union(one, other):\n    return one & other\n"
    history.commit({"pkg/sets.py": wrong}, "Add sets")
    history.switch("main")
    t0 = history.commit({"docs/guide.md": "# Guide\n"}, "Guide")
    history.merge("sets")
    fix = history.commit(
        {"pkg/sets.py": wrong.replace("&", "|")}, "fix: union of sets was an intersection"
    )
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.presences[fix].verdict == "drop"
    assert mined.bugs == []


REPAIRS = [
    "修复空列表时崩溃的问题",
    "修正:空列表返回错误结果",
    "解决空列表报错",
    "fix(列表): 空列表抛出异常",
    "空リストで例外が発生する不具合を修正",
    "空のリストのバグを直す",
    "Leere Listen führen nicht mehr zum Absturz",
    "Fehler bei leeren Listen behoben",
    "Behebt den Absturz bei leeren Listen",
    "Исправлена ошибка с пустым списком",
    "Исправить падение при пустом списке",
    "Устранён сбой при пустом списке",
    "빈 목록 오류 수정",
    "Corrige le plantage sur une liste vide",
    "修复:空列表",
    "fix\uff1a空列表",
    "\u3010修复\u3011空列表",
    "バグ修正:空リスト",
    "Исправление: пустой список",
]


@pytest.mark.parametrize("subject", REPAIRS)
@pytest.mark.parametrize("tested", [True, False])
def test_a_fix_told_in_another_language_is_not_lost(
    tmp_path: Path, subject: str, tested: bool
) -> None:
    history, t0 = begin(tmp_path)
    files = {"pkg/lists.py": GUARDED, **({"tests/test_lists.py": TEST_FIRST} if tested else {})}
    fix = history.commit(files, f"{subject}\n\n详细说明见下。\n")
    assert mine(history, t0).fixes == [fix]


@pytest.mark.parametrize(
    "subject", ["空列表", "空のリスト", "Leere Listen", "Пустой список", "\u200b…"]
)
def test_a_diff_that_shows_a_repair_needs_no_word_of_one(tmp_path: Path, subject: str) -> None:
    history, t0 = begin(tmp_path)
    files = {"pkg/lists.py": GUARDED, "tests/test_lists.py": TEST_FIRST}
    fix = history.commit(files, subject)
    assert mine(history, t0, habits=LOOSE).fixes == [fix]


def test_a_message_in_an_encoding_of_its_own_loses_no_fix(tmp_path: Path) -> None:
    """GBK bytes without a word of it in the commit: nothing of the message can be read."""
    history, t0 = begin(tmp_path)
    files = {"pkg/lists.py": GUARDED, "tests/test_lists.py": TEST_FIRST}
    fix = history.commit(files, "修复空列表时的问题".encode("gbk"))
    mined = mine(history, t0, habits=LOOSE)
    assert mined.fixes == [fix]
    assert len(mined.bugs) == 1


@pytest.mark.parametrize(
    "subject",
    [
        "新增分块功能",
        "添加 chunks 函数",
        "リストを分割する機能を追加",
        "Neue Funktion: Listen zerlegen",
        "Funktion chunks hinzugefügt",
        "Добавлена функция chunks",
        "분할 기능 추가",
        "新增\uff1a chunks",
        "\u3010新功能\u3011 chunks",
        "追加: chunks",
    ],
)
def test_a_feature_told_in_another_language_is_none(tmp_path: Path, subject: str) -> None:
    history, t0 = begin(tmp_path)
    history.commit(with_feature(LISTS), subject)
    assert classified(history, t0, habits=LOOSE)[1][history.tip()].is_fix is False
