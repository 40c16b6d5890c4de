"""Known traps of what commits change, each on a small repository; see ``test_traps.py``."""

from pathlib import Path

import pytest
from builders import executable
from mined import (
    CLAMP_RIGHT,
    CLAMP_WRONG,
    CLAMPED,
    GUARDED,
    LISTS,
    begin,
    mine,
    place,
)

from probe.code.paths import SourceScope
from probe.reference.extract import NO_BEHAVIOUR

ANYWHERE = SourceScope()


def clean_run(text: str) -> str:
    """The text as a formatter lays it out: other quotes, indents and line breaks."""
    return (
        text.replace("    ", "  ")
        .replace("(value, low, high):", "(\n  value,\n  low,\n  high,\n):")
        .replace('","', "','")
        .replace("  text += name + separator", "  text += (\n      name + separator\n    )")
    )


FORMATTED = clean_run(LISTS)


@pytest.mark.parametrize("listed", [True, False], ids=["in .git-blame-ignore-revs", "not listed"])
def test_a_formatter_run_is_no_fix_and_hides_no_older_defect(tmp_path: Path, listed: bool) -> None:
    """All lines look new after it, yet the defect that is fixed later stood at T0 already."""
    history, t0 = begin(tmp_path)
    run = history.commit({"pkg/lists.py": FORMATTED}, "fix: formatting of the whole tree")
    if listed:
        history.commit({".git-blame-ignore-revs": f"# formatter\n{run}\n"}, "chore: ignore it")
    wrong, right = CLAMP_WRONG.replace("    ", "  "), CLAMP_RIGHT.replace("    ", "  ")
    fix = history.commit(
        {"pkg/lists.py": FORMATTED.replace(wrong, right)}, "fix: clamp returns the wrong bound"
    )
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.why(run) == "production tokens are unchanged: formatting only"
    assert mined.presences[fix].verdict == "keep"
    (bug,) = mined.bugs
    assert bug.primary == place("pkg/lists.py", LISTS, CLAMP_WRONG)


def test_a_repair_inside_a_formatter_run_is_found_and_alone_is_faulty(tmp_path: Path) -> None:
    """Any part counts; the lines that were only laid out anew were not wrong."""
    history, t0 = begin(tmp_path)
    fix = history.commit({"pkg/lists.py": clean_run(CLAMPED)}, "fix: clamp, and run black")
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.candidates[fix].parent_locations == (place("pkg/lists.py", LISTS, CLAMP_WRONG),)
    assert mined.bugs[0].primary == place("pkg/lists.py", LISTS, CLAMP_WRONG)


VENDORED = {"pkg/lists.py": LISTS, "pkg/_vendor/idna.py": LISTS}


def test_a_vendored_copy_patched_by_hand_counts(tmp_path: Path) -> None:
    """What is patched in place is the project's own to ship."""
    history, t0 = begin(tmp_path, VENDORED)
    fix = history.commit({"pkg/_vendor/idna.py": GUARDED}, "fix: empty label crashes vendored idna")
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.bugs[0].primary.path == "pkg/_vendor/idna.py"


@pytest.mark.parametrize(
    "subject",
    ["fix: update vendored idna to 3.7", "Vendor idna 3.7", "fix: sync idna with upstream"],
)
def test_an_update_of_a_vendored_copy_does_not_count(tmp_path: Path, subject: str) -> None:
    """The bug was the dependency's, and was corrected there."""
    history, t0 = begin(tmp_path, VENDORED)
    files = {"pkg/_vendor/idna.py": GUARDED, "pkg/_vendor/README": "idna 3.7\n"}
    history.commit(files, subject)
    assert mine(history, t0).fixes == []


def test_an_update_of_a_subtree_does_not_count(tmp_path: Path) -> None:
    """``git subtree --squash`` puts it on a side branch whose paths look like our own sources."""
    history, _ = begin(tmp_path, VENDORED)
    history.orphan("subtree")
    history.commit({"idna.py": LISTS}, "Squashed 'pkg/_vendor/' content from commit 0123456")
    history.switch("main")
    t0 = history.merge("subtree", files={"idna.py": None, "pkg/_vendor/idna.py": LISTS})
    history.switch("subtree")
    history.commit(
        {"idna.py": GUARDED},
        "Squashed 'pkg/_vendor/' changes from 0123456..89abcde\n\n89abcde fix: crash on empty",
    )
    history.switch("main")
    history.merge("subtree", files={"idna.py": None, "pkg/_vendor/idna.py": GUARDED})
    mined = mine(history, t0, ANYWHERE)
    assert len(mined.commits) == 1
    assert mined.fixes == []


@pytest.mark.parametrize(
    "path", ["package-lock.json", "yarn.lock", "poetry.lock", "packages/core/package-lock.json"]
)
def test_a_lock_file_fix_is_none(tmp_path: Path, path: str) -> None:
    """It changes what is installed, no code of the project."""
    history, t0 = begin(tmp_path, {"pkg/lists.py": LISTS, path: '"left-pad": "1.0"\n'})
    history.commit({path: '"left-pad": "1.1"\n'}, "fix: lock file was broken")
    assert mine(history, t0, ANYWHERE).fixes == []


TYPED = '''def first(items: list[int]) -> int:
    """The first item, None of an empty list."""
    return items[0] if items else None
'''


@pytest.mark.parametrize(
    "subject",
    [
        "chore: satisfy mypy",
        "Add missing type hints",
        "fix: mypy errors",
        "fix(types): satisfy pyright",
    ],
)
def test_annotations_for_a_checker_are_no_fix(tmp_path: Path, subject: str) -> None:
    history, t0 = begin(tmp_path, {"pkg/lists.py": LISTS})
    typed = LISTS.replace("def first(items):", "def first(items: list[int]) -> int:")
    history.commit({"pkg/lists.py": typed}, subject)
    assert mine(history, t0).fixes == []


def test_wrong_public_typing_that_is_corrected_counts(tmp_path: Path) -> None:
    """Users' checkers act on it: the annotation was wrong behaviour of the public interface."""
    history, t0 = begin(tmp_path, {"pkg/lists.py": TYPED})
    fix = history.commit(
        {"pkg/lists.py": TYPED.replace("-> int:", "-> int | None:")},
        "fix(typing): first returns None for an empty list",
    )
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    (bug,) = mined.bugs
    assert (bug.primary.path, bug.primary.first) == ("pkg/lists.py", 1)


def test_wrong_public_types_of_a_declaration_file_count(tmp_path: Path) -> None:
    wrong = "export declare function first<T>(items: T[]): T;\n"
    history, t0 = begin(tmp_path, {"src/index.d.ts": wrong, "src/index.js": "//\n"})
    fix = history.commit(
        {"src/index.d.ts": wrong.replace(": T;", ": T | undefined;")},
        "fix(types): first may return undefined",
    )
    mined = mine(history, t0, ANYWHERE)
    assert mined.fixes == [fix]
    assert len(mined.bugs) == 1


DOCTEST = '''def double(number):
    """Twice the number.

    >>> double(2)
    5
    """
    return number * 2
'''


def test_a_doctest_is_documentation_and_a_test_so_its_fix_is_none(tmp_path: Path) -> None:
    """The function was right; only its example was wrong.

    A lone line of expected output is known for one by its file only, that is, when extracted.
    """
    history, t0 = begin(tmp_path, {"pkg/lists.py": DOCTEST})
    history.commit({"pkg/lists.py": DOCTEST.replace("    5\n", "    4\n")}, "fix: failing doctest")
    right = DOCTEST.replace("    5\n", "    4\n").replace("double(2)", "double(1 + 1)")
    example = history.commit({"pkg/lists.py": right}, "fix: wrong example of double")
    mined = mine(history, t0)
    assert mined.bugs == []
    assert {item.reason for item in mined.dropped.values()} <= {NO_BEHAVIOUR}
    assert set(mined.fixes) == mined.dropped.keys()
    assert example not in mined.fixes


def test_a_fix_with_its_doctest_is_anchored_at_the_code_alone(tmp_path: Path) -> None:
    wrong = DOCTEST.replace("number * 2", "number * 3").replace("    5\n", "    6\n")
    history, t0 = begin(tmp_path, {"pkg/lists.py": wrong})
    right = wrong.replace("number * 3", "number * 2").replace("    6\n", "    4\n")
    fix = history.commit({"pkg/lists.py": right}, "fix: double triples")
    mined = mine(history, t0)
    assert mined.candidates[fix].parent_locations == (
        place("pkg/lists.py", wrong, "    return number * 3"),
    )


@pytest.mark.parametrize(
    ("path", "wrong", "right"),
    [
        ("pkg/templates/page.html", "<p>{{ name|safe }}</p>\n", "<p>{{ name }}</p>\n"),
        ("pkg/templates/mail.j2", "Dear {{ nmae }},\n", "Dear {{ name }},\n"),
        ("pkg/sql/open.sql", "select * from jobs where done = null\n", "select * from jobs where done is null\n"),
        ("src/commands/move.lua", "redis.call('LREM', key, 1, id)\n", "redis.call('LREM', key, 0, id)\n"),
        ("pkg/schema/order.sql", "create table t (price integer);\n", "create table t (price numeric(10, 2));\n"),
    ],
)  # fmt: skip
def test_a_fix_in_a_template_or_a_query_that_ships_counts(
    tmp_path: Path, path: str, wrong: str, right: str
) -> None:
    """It runs in the user's programme like any other production code."""
    before = "-- head\n" if path.endswith(".sql") else ""
    history, t0 = begin(tmp_path, {path: before + wrong, "pkg/lists.py": LISTS})
    fix = history.commit({path: before + right}, "fix: wrong output")
    scope = SourceScope(source=["pkg/", "src/"], tests=["/tests/"])
    mined = mine(history, t0, scope)
    assert mined.fixes == [fix]
    assert mined.bugs[0].primary == place(path, before + wrong, wrong)
    assert mine(history, t0, ANYWHERE).fixes == [fix]


def dos(text: str) -> str:
    return text.replace("\n", "\r\n")


@pytest.mark.parametrize(("old", "new"), [(LISTS, dos(LISTS)), (dos(LISTS), LISTS)])
@pytest.mark.parametrize("path", ["pkg/lists.py", "pkg/page.html"])
def test_a_conversion_of_line_ends_is_no_fix(tmp_path: Path, path: str, old: str, new: str) -> None:
    """Every line changes and none says another thing."""
    history, t0 = begin(tmp_path, {path: old})
    history.commit({path: new, ".gitattributes": "* text=auto\n"}, "fix: line endings")
    assert mine(history, t0).bugs == []
    assert mine(history, t0).fixes == []


@pytest.mark.parametrize(("old", "new"), [(LISTS, dos(CLAMPED)), (dos(LISTS), CLAMPED)])
def test_a_repair_inside_a_conversion_of_line_ends_is_anchored_alone(
    tmp_path: Path, old: str, new: str
) -> None:
    history, t0 = begin(tmp_path, {"pkg/lists.py": old})
    fix = history.commit({"pkg/lists.py": new}, "fix: clamp returns the wrong bound")
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    spot = place("pkg/lists.py", LISTS, CLAMP_WRONG)
    assert mined.candidates[fix].parent_locations == (spot,)
    assert mined.presences[fix].verdict == "keep"
    assert mined.bugs[0].primary == spot
    assert mined.bugs[0].others == ()


@pytest.mark.parametrize(("old", "new"), [(LISTS, dos(LISTS)), (dos(LISTS), LISTS)])
def test_a_fix_after_a_conversion_of_line_ends_goes_back_to_the_snapshot(
    tmp_path: Path, old: str, new: str
) -> None:
    history, t0 = begin(tmp_path, {"pkg/lists.py": old})
    history.commit({"pkg/lists.py": new}, "chore: line endings")
    fixed = dos(CLAMPED) if "\r" in new else CLAMPED
    fix = history.commit({"pkg/lists.py": fixed}, "fix: clamp returns the wrong bound")
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.presences[fix].verdict == "keep"
    assert mined.bugs[0].primary == place("pkg/lists.py", LISTS, CLAMP_WRONG)


def test_a_changed_file_mode_is_no_fix(tmp_path: Path) -> None:
    """No line of code is another one."""
    history, t0 = begin(tmp_path)
    mode = history.commit({"pkg/lists.py": executable(LISTS)}, "fix: make it executable")
    mined = mine(history, t0)
    assert mined.fixes == []
    assert "modes" in mined.why(mode)


def test_a_repair_with_a_changed_file_mode_counts(tmp_path: Path) -> None:
    history, t0 = begin(tmp_path)
    fix = history.commit({"pkg/lists.py": executable(CLAMPED)}, "fix: wrong bound of clamp")
    assert mine(history, t0).bugs[0].fix_commits == (fix,)
