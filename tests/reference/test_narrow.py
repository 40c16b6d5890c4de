"""From a model's places to a fix's changes, held against the heuristic extractor and by hand."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import HistoryBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from probe.code.paths import SourceScope
from probe.git.diff import CommitDiff
from probe.git.log import iter_diffs
from probe.git.objects import ObjectReader
from probe.reference.extract import Extracted, extract
from probe.reference.extract_check import (
    NEAR,
    AnsweredBug,
    AnsweredPoint,
    AnsweredRange,
    Ground,
    old_path,
)
from probe.reference.narrow import Narrower
from probe.reference.patches import read_patch

SCOPE = SourceScope()
LINES = st.lists(
    st.sampled_from(["x = one(1)", "y = two(x)", "if x > y:", "    z = x", "", "# note", "import os"]),
    max_size=12,
)  # fmt: skip


def bug(
    ranges: Sequence[tuple[str, int, int]] = (),
    points: Sequence[tuple[str, int]] = (),
    fix: str = "",
) -> AnsweredBug:
    return AnsweredBug(
        title="It fails",
        root_cause="A mistake.",
        ranges=tuple(AnsweredRange(path=p, first_line=a, last_line=b) for p, a, b in ranges),
        insertion_points=tuple(AnsweredPoint(path=p, after_line=n) for p, n in points),
        suggested_fix=fix,
    )


def at_all_hunks(diff: CommitDiff) -> AnsweredBug:
    hunks = [(old_path(f), h) for f in diff.files if f.change.status != "A" for h in f.hunks]
    return bug(
        [(p, h.old_start, h.old_start + h.old_count - 1) for p, h in hunks if h.old_count],
        [(p, h.old_start) for p, h in hunks if not h.old_count],
    )


class Fixed:
    """A history of a state before a fix and the fix."""

    def __init__(self, folder: Path, before: dict[str, str], after: dict[str, str]) -> None:
        history = HistoryBuilder(folder / "repo")
        self.parent = history.commit(before)
        fix = history.commit(after, "fix: it")
        (self.diff,) = iter_diffs(history.path, [fix])
        self.path = history.path

    def narrow(self, *bugs: AnsweredBug) -> list[Extracted]:
        with ObjectReader(self.path) as reader:
            narrower = Narrower(self.diff, self.parent, SCOPE, reader.read, bugs)
            return [narrower.narrow(one, alone=len(bugs) == 1) for one in bugs]

    def flaw(self, one: AnsweredBug) -> str | None:
        with ObjectReader(self.path) as reader:
            flaw = Ground(self.diff, self.parent, reader.read).flaw(one)
        return flaw.reason if flaw else None


@given(before=LINES, after=LINES)
@settings(max_examples=60, deadline=None)
def test_a_bug_at_all_hunks_is_what_the_heuristic_extracts(before, after) -> None:
    with tempfile.TemporaryDirectory() as folder:
        old, new = "\n".join(["a = 0", *before, ""]), "\n".join(["a = 0", *after, ""])
        fixed = Fixed(Path(folder), {"a.py": old}, {"a.py": new})
        with ObjectReader(fixed.path) as reader:
            whole = extract(fixed.diff, fixed.parent, SCOPE, reader.read)
        if not isinstance(whole, Extracted):
            return
        everywhere = at_all_hunks(fixed.diff)
        assert fixed.flaw(everywhere) is None
        [narrowed] = fixed.narrow(everywhere)
        assert [file.changes for file in narrowed.files] == [file.changes for file in whole.files]
        assert [file.insertions for file in narrowed.files] == [f.insertions for f in whole.files]
        lost = {f.path: dict(zip(f.faulty, f.lost, strict=True)) for f in narrowed.files}
        for file in whole.files:
            for line, words in zip(file.faulty, file.lost, strict=True):
                assert lost[file.path][line] == words
        assert narrowed.additive == whole.additive
        assert narrowed.suggested_fix == whole.suggested_fix


@pytest.fixture
def fixed(tmp_path) -> Fixed:
    before = "".join(f"v{n} = make({n})\n" for n in range(1, 31))
    after = before.replace("make(5)", "build(5)").replace("make(20)", "take(20)")
    after = after.replace("v25 = make(25)\n", "v25 = make(25)\nchecked(v25)\n")
    return Fixed(
        tmp_path,
        {"pkg/a.py": before, "pkg/b.py": "z = 1\n", "tests/test_a.py": "pass\n"},
        {"pkg/a.py": after, "pkg/b.py": "z = 2\n", "tests/test_a.py": "test()\n"},
    )


def test_each_bug_has_the_words_and_hunks_of_its_own_places(fixed) -> None:
    first, second, third = fixed.narrow(
        bug([("pkg/a.py", 5, 5)]), bug([("pkg/a.py", 20, 20)]), bug(points=[("pkg/a.py", 25)])
    )
    assert [(f.faulty, f.lost) for f in first.files] == [((5,), (frozenset({"make"}),))]
    assert [(f.faulty, f.lost) for f in second.files] == [((20,), (frozenset({"make"}),))]
    assert [(f.faulty, f.insertions) for f in third.files] == [((), (25,))]
    assert third.additive
    added = [read_patch(one.suggested_fix).added for one in (first, second, third)]
    assert added == [{"v5=build(5)": 1}, {"v20=take(20)": 1}, {"checked(v25)": 1}]


def test_the_only_bug_of_a_commit_keeps_its_whole_production_diff(fixed) -> None:
    [alone] = fixed.narrow(bug([("pkg/a.py", 5, 5)], fix="Use build.\n--- not a patch"))
    patch = read_patch(alone.suggested_fix)
    assert patch.added.total() == 3
    assert patch.names == {"a.py", "b.py"}
    assert alone.suggested_fix.startswith("Use build. --- not a patch\n--- pkg/a.py\n")


def test_places_in_several_files_are_one_bug(fixed) -> None:
    [found] = fixed.narrow(bug([("pkg/b.py", 1, 1), ("pkg/a.py", 4, 6)]))
    assert [(file.path, file.faulty) for file in found.files] == [
        ("pkg/a.py", (5,)),
        ("pkg/b.py", (1,)),
    ]


def test_a_change_in_no_production_file_counts_where_it_is_named(fixed) -> None:
    [found] = fixed.narrow(bug([("tests/test_a.py", 1, 1)]))
    assert [(file.path, file.faulty) for file in found.files] == [("tests/test_a.py", (1,))]


@pytest.mark.parametrize("away", range(NEAR + 3))
def test_a_place_may_lie_so_many_lines_beside_a_hunk(fixed, away) -> None:
    sound = away <= NEAR
    reason = None if sound else "range touches no hunk"
    assert fixed.flaw(bug([("pkg/a.py", 5 + away, 8 + away)])) == reason
    assert fixed.flaw(bug([("pkg/a.py", 1, 5 - away)] if away < 5 else [])) in (
        reason,
        "no location",
    )
    assert fixed.flaw(bug(points=[("pkg/a.py", 5 + away)])) == reason


def test_of_a_rewritten_block_only_the_named_lines_are_faulty(tmp_path) -> None:
    before = "".join(f"v{n} = make({n})\n" for n in range(1, 11))
    fixed = Fixed(tmp_path, {"a.py": before}, {"a.py": before.replace("make", "build")})
    [found] = fixed.narrow(bug([("a.py", 3, 4)]))
    assert [(file.faulty, file.lost) for file in found.files] == [
        ((3, 4), (frozenset({"make"}), frozenset({"make"})))
    ]
