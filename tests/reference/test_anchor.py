"""Where lines come from: replayed and blamed, and where a candidate stands in the snapshot."""

from pathlib import Path

import pytest
from builders import HistoryBuilder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probe.code.paths import SourceScope
from probe.git.diff import CommitDiff, FileDiff, Hunk
from probe.git.log import iter_diffs, iter_window
from probe.git.objects import ObjectReader
from probe.records import Candidate, FileChange, Location
from probe.reference.candidates import build_candidates, window_parents
from probe.reference.lineage import DeletedLines, Predecessor
from probe.reference.merges import LineMap
from probe.reference.mirror import MirrorHistory
from probe.reference.replay import Replay
from probe.reference.trace import Origin, Place, Tracer

SCOPE = SourceScope()
BODY = [f"value_{n} = compute({n})\n" for n in range(12)]


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def origins(history: HistoryBuilder, t0: str, rev: str, path: str, lines) -> list[Origin]:
    """Origins by replay, checked against those by recursive `git blame`."""
    blame = Tracer(MirrorHistory(history.path, t0), window_parents(history.path, t0, history.tip()))
    with ObjectReader(history.path) as reader:
        replay = Replay(history.path, t0, [rev], reader, blame)
        places = [Place(rev, path, line) for line in lines]
        found = replay.trace(places)
        assert {p: o.place for p, o in found.items()} == {
            p: o.place for p, o in blame.trace(places).items()
        }
        return [found[place] for place in places]


def candidates(history: HistoryBuilder, t0: str, *fixes: str) -> list[Candidate]:
    window = [c for c in iter_window(history.path, t0, history.tip("main")) if c.sha in fixes]
    found, left_out = build_candidates(history.path, t0, history.tip("main"), window, SCOPE)
    assert not left_out
    return found


def place(path: str, first: int, last: int | None = None) -> Location:
    return Location(path=path, first=first, last=last or first)


def test_untouched_lines_shift_with_their_file(history):
    t0 = history.commit({"a.py": "".join(BODY)})
    rev = history.commit({"a.py": "new = 0\n" + "".join(BODY)})
    new, old = origins(history, t0, rev, "a.py", [1, 5])
    assert (new.place, new.writers) == (None, (rev,))
    assert (old.place, old.writers) == (Place(t0, "a.py", 4), ())


def test_a_rewritten_line_goes_on_to_the_line_that_it_replaced(history):
    t0 = history.commit({"a.py": "".join(BODY)})
    first = history.commit({"a.py": "".join(BODY).replace("compute(3)", "compute(3, deep=True)")})
    (origin,) = origins(history, t0, first, "a.py", [4])
    assert origin.place == Place(t0, "a.py", 4)
    assert origin.writers == (first,)
    assert 0.5 < origin.likeness < 1


def test_a_wrapped_line_goes_back_to_the_line_that_it_was_part_of(history):
    t0 = history.commit({"a.py": "result = call_it(first_value) if check(first_value) else None\n"})
    rev = history.commit(
        {
            "a.py": "result = (\n    call_it(first_value, strict=True)\n    if check(first_value)\n"
            "    else None\n)\n"
        }
    )
    assert origins(history, t0, rev, "a.py", [2])[0].place == Place(t0, "a.py", 1)


def test_renames_reindentation_and_moves_count_as_untouched(history):
    t0 = history.commit({"old.py": "".join(BODY)})
    history.rename("old.py", "new.py")
    rev = history.commit({"new.py": "if True:\n" + "".join("    " + line for line in BODY)})
    (origin,) = origins(history, t0, rev, "new.py", [4])
    assert (origin.place, origin.writers, origin.renamed) == (Place(t0, "old.py", 3), (), True)


def test_a_split_file_is_followed_to_where_its_lines_stood(history):
    t0 = history.commit({"all.py": "".join(BODY)})
    rev = history.commit({"all.py": "".join(BODY[:2]), "part.py": "# Part\n" + "".join(BODY[2:])})
    assert origins(history, t0, rev, "part.py", [2])[0].place == Place(t0, "all.py", 3)


def test_short_lines_say_nothing_about_where_they_came_from(history):
    t0 = history.commit({"a.py": "x = 1\n", "b.py": "pass\nreturn\n"})
    rev = history.commit({"a.py": "x = 1\nreturn\n", "b.py": "pass\n"})
    assert origins(history, t0, rev, "a.py", [2])[0].place is None


def test_lines_of_a_branch_are_found_behind_its_merge(history):
    t0 = history.commit({"a.py": "".join(BODY), "b.py": "x = 1\n"})
    history.branch("topic")
    topic = history.commit({"a.py": "born_on_branch = unique(1)\n" + "".join(BODY)})
    history.switch("main")
    history.commit({"a.py": "".join(BODY) + "born_on_main = other(2)\n"})
    merge = history.merge(
        "topic",
        files={
            "a.py": "born_on_branch = unique(1)\n" + "".join(BODY) + "born_on_main = other(2)\n"
        },
    )
    rev = history.commit({"b.py": "x = 2\n"})
    first, second = origins(history, t0, rev, "a.py", [1, 2])
    assert (first.place, first.writers) == (None, (topic,))
    assert second.place == Place(t0, "a.py", 1)
    assert merge not in first.writers


def test_a_branch_from_before_the_snapshot_stops_at_its_fork(history):
    fork = history.commit({"a.py": "".join(BODY), "b.py": "x = 1\n"})
    history.branch("old", fork)
    on_branch = history.commit({"b.py": "x = 2\n"})
    history.switch("main")
    t0 = history.commit({"a.py": "top = 0\n" + "".join(BODY)})
    history.merge("old")
    with ObjectReader(history.path) as reader:
        parents = window_parents(history.path, t0, history.tip())
        blame = Tracer(MirrorHistory(history.path, t0), parents)
        replay = Replay(history.path, t0, [on_branch], reader, blame)
        (origin,) = replay.trace([Place(on_branch, "a.py", 3)]).values()
    assert origin.place == Place(fork, "a.py", 3)
    fix = history.commit({"a.py": "top = 0\n" + "".join(BODY).replace("(2)", "(20)")})
    (candidate,) = candidates(history, t0, fix)
    assert candidate.snapshot_locations == (place("a.py", 4),)


def test_a_file_whose_diff_is_missing_is_left_to_blame(history):
    t0 = history.commit({"a.py": "".join(BODY), "c.py": "".join(BODY)})
    lost = history.commit({"a.py": "lost = 1\n" + "".join(BODY)})
    rev = history.commit({"a.py": "".join(BODY), "c.py": "x = 1\n" + "".join(BODY)})
    history.lose_blob(lost, "a.py")
    blame = Tracer(MirrorHistory(history.path, t0), window_parents(history.path, t0, rev))
    with ObjectReader(history.path) as reader:
        found = Replay(history.path, t0, [rev], reader, blame).trace(
            [Place(rev, "a.py", 1), Place(rev, "c.py", 2)]
        )
    assert found[Place(rev, "c.py", 2)].place == Place(t0, "c.py", 1)
    assert Place(rev, "a.py", 1) in found


def test_a_revision_that_was_not_named_is_blamed(history):
    t0 = history.commit({"a.py": "".join(BODY)})
    rev = history.commit({"a.py": "x = 1\n" + "".join(BODY)})
    blame = Tracer(MirrorHistory(history.path, t0), window_parents(history.path, t0, rev))
    with ObjectReader(history.path) as reader:
        (origin,) = (
            Replay(history.path, t0, [], reader, blame).trace([Place(rev, "a.py", 2)]).values()
        )
    assert origin.place == Place(t0, "a.py", 1)


edits = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "change"]), st.integers(0, 30)), max_size=5
)


@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(edits, min_size=1, max_size=4))
def test_replay_agrees_with_git_on_lines_that_were_never_rewritten(tmp_path_factory, commits):
    history = HistoryBuilder(tmp_path_factory.mktemp("replay") / "repo")
    lines = [f"line number {n} of the file" for n in range(20)]
    t0 = history.commit({"a.py": "\n".join(lines) + "\n"})
    count = 100
    for steps in commits:
        for kind, at in steps:
            count += 1
            at = min(at, len(lines))
            if kind == "insert":
                lines.insert(at, f"{count} wholly new {count * 7919}")
            elif at < len(lines):
                lines[at : at + 1] = [] if kind == "delete" else [f"{count * 104729} other"]
        history.commit({"a.py": "".join(f"{line}\n" for line in lines)})
    rev = history.tip()
    for number, (line, origin) in enumerate(
        zip(lines, replayed(history, t0, rev, len(lines)), strict=True), 1
    ):
        if line.startswith("line number"):
            expected = int(line.split()[2]) + 1
            assert origin.place == Place(t0, "a.py", expected), number
            assert origin.writers == ()


def replayed(history: HistoryBuilder, t0: str, rev: str, count: int) -> list[Origin]:
    blame = Tracer(MirrorHistory(history.path, t0), window_parents(history.path, t0, rev))
    with ObjectReader(history.path) as reader:
        places = [Place(rev, "a.py", n) for n in range(1, count + 1)]
        found = Replay(history.path, t0, [rev], reader, blame).trace(places)
    return [found[p] for p in places]


def one_hunk(removed: tuple[str, ...], added: tuple[str, ...]) -> DeletedLines:
    change = FileChange(path="a.py", status="M", added=len(added), deleted=len(removed))
    hunk = Hunk(10, len(removed), 20, len(added), removed, added)
    return DeletedLines(CommitDiff("0" * 40, (FileDiff(change, (hunk,)),)))


def test_the_most_similar_deleted_line_is_the_predecessor():
    deleted = one_hunk(
        ("total = sum(items)", "return total / count"), ("return total / max(1, count)",)
    )
    assert deleted.predecessor("a.py", 20) == Predecessor(
        "a.py", 11, pytest.approx(2 * 17 / (17 + 24))
    )
    assert deleted.predecessor("a.py", 21) is None
    assert deleted.predecessor("b.py", 20) is None


def test_unlike_lines_replace_nothing():
    deleted = one_hunk(("import logging",), ("while queue.pop():",))
    assert deleted.predecessor("a.py", 20) is None


def test_a_merge_maps_lines_around_its_hunks():
    """Hunks as git prints them: -2,2 +2,1 replaces, -6,0 +6,2 inserts, -9,1 +9,0 deletes."""
    lines = LineMap("a.py", ((2, 2, 2, 1), (6, 0, 6, 2), (9, 1, 9, 0)))
    expected = [1, None, 4, 5, 6, None, None, 7, 8, 10, 11]
    assert [lines.before(n) for n in range(1, 12)] == expected


def test_candidates_say_how_they_were_anchored(history):
    text = "def f(x):\n    a = x.one\n    b = x.two\n    return a + b\n"
    t0 = history.commit({"a.py": text, "old.py": text.replace("f(", "g(")})
    exact = history.commit({"a.py": text.replace("a + b", "a - b")}, "fix: subtract (#12)")
    history.rename("old.py", "new.py")
    renamed = history.commit({"new.py": text.replace("f(", "g(").replace("x.two", "x.three")})
    one, two = candidates(history, t0, exact, renamed)
    assert (one.anchoring, one.snapshot_locations) == ("exact", (place("a.py", 4),))
    assert (one.anchored_lines, one.faulty_lines, one.additive) == (1, 1, False)
    assert one.id == f"{exact[:12]}-1"
    assert one.title == "subtract"
    assert one.root_cause == "subtract (in f)"
    assert (two.anchoring, two.snapshot_locations) == ("renamed", (place("old.py", 3),))


def test_a_rewritten_candidate_is_moved(history):
    t0 = history.commit({"a.py": "def f(x):\n    return x.first_value + x.second\n"})
    history.commit({"a.py": "def f(x, y):\n    return x.first_value + x.second + y\n"})
    fix = history.commit({"a.py": "def f(x, y):\n    return x.first_value - x.second + y\n"})
    (found,) = candidates(history, t0, fix)
    assert (found.anchoring, found.snapshot_locations) == ("moved", (place("a.py", 2),))


def test_an_additive_fix_is_anchored_between_its_neighbours(history):
    t0 = history.commit({"a.py": "def f(x):\n    y = x.value\n    return y\n"})
    fix = history.commit({"a.py": "def f(x):\n    y = x.value\n    check(y)\n    return y\n"})
    (found,) = candidates(history, t0, fix)
    assert found.additive
    assert (found.anchoring, found.snapshot_locations) == ("exact", (place("a.py", 2, 3),))
    assert (found.anchored_lines, found.faulty_lines) == (1, 0)


def test_a_missing_import_is_anchored_where_the_name_is_used(history):
    text = "import sys\n\n\ndef f():\n    return os.sep\n"
    t0 = history.commit({"a.py": text})
    fix = history.commit({"a.py": "import os\n" + text})
    (found,) = candidates(history, t0, fix)
    assert found.snapshot_locations == (place("a.py", 5),)


def test_a_unit_is_found_by_name_where_its_lines_are_new(history):
    t0 = history.commit({"a.py": "class A:\n    def run(self):\n        return 1\n"})
    history.commit(
        {
            "b.py": "class A:\n    def run(self):\n        wholly = different()\n        go(wholly)\n",
            "a.py": None,
        }
    )
    fix = history.commit(
        {"b.py": "class A:\n    def run(self):\n        wholly = another()\n        go(wholly)\n"}
    )
    (found,) = candidates(history, t0, fix)
    assert (found.anchoring, found.snapshot_locations) == ("moved", (place("a.py", 2),))


def test_what_was_born_later_is_lost(history):
    t0 = history.commit({"a.py": "x = 1\n"})
    history.commit({"later.py": "def born(value):\n    return value + 1\n"})
    fix = history.commit({"later.py": "def born(value):\n    return value + 2\n"})
    (found,) = candidates(history, t0, fix)
    assert (found.anchoring, found.snapshot_locations) == ("lost", ())
    assert found.anchored_lines == 0


def test_blocks_of_fixes_give_the_same_candidates(history):
    t0 = history.commit({"a.py": "".join(BODY)})
    first = history.commit({"a.py": "".join(BODY).replace("(1)", "(10)")})
    second = history.commit({"a.py": "".join(BODY).replace("(1)", "(10)").replace("(5)", "(50)")})
    together = candidates(history, t0, first, second)
    apart = [*candidates(history, t0, first), *candidates(history, t0, second)]
    assert together == apart
    assert len(list(iter_diffs(history.path, [first, second]))) == 2
