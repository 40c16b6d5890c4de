"""Renamed, split, merged, moved and laid out anew: the replay and git's blame find the same lines."""

from pathlib import Path

import pytest
from badgit import calls, wrap_git
from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.git.log import iter_window
from probe.git.objects import ObjectReader
from probe.records import Candidate, Location
from probe.reference import replay as replaying
from probe.reference.candidates import build_candidates, open_past, window_parents
from probe.reference.mirror import MirrorHistory
from probe.reference.replay import Replay
from probe.reference.trace import Origin, Place, Tracer

BODY = [f"value_{n} = compute({n})\n" for n in range(12)]
CODE = "".join(
    f"def step_{n}(items):\n    total_{n} = sum(items[{n}:])\n    return total_{n} + {n}\n\n\n"
    for n in range(8)
)


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def traced(
    history: HistoryBuilder, t0: str, rev: str, path: str, line: int, *ignored: str
) -> Origin:
    """The origin by replay; git's blame must find the same place."""
    parents = window_parents(history.path, t0, history.tip("main"))
    blame = Tracer(MirrorHistory(history.path, t0, ignored), parents, ignored)
    place = Place(rev, path, line)
    with ObjectReader(history.path) as reader:
        (origin,) = Replay(history.path, t0, [rev], reader, blame).trace([place]).values()
    assert blame.trace([place])[place].place == origin.place
    return origin


def candidate(history: HistoryBuilder, t0: str, fix: str) -> Candidate:
    t1 = history.tip("main")
    window = [commit for commit in iter_window(history.path, t0, t1) if commit.sha == fix]
    (found,), _ = build_candidates(history.path, t0, t1, window, SourceScope())
    return found


def place(path: str, first: int, last: int | None = None) -> Location:
    return Location(path=path, first=first, last=last or first)


def test_a_package_made_of_one_module(history):
    t0 = history.commit({"big.py": CODE})
    parts = CODE.split("\n\n\n")[:8]
    package = {f"big/part{n}.py": "import math\n\n\n" + part + "\n" for n, part in enumerate(parts)}
    moved = history.commit({"big.py": None, "big/__init__.py": "", **package}, "Split big")
    fix = history.commit({"big/part5.py": package["big/part5.py"].replace("+ 5", "- 5")})
    assert traced(history, t0, moved, "big/part5.py", 6).place == Place(t0, "big.py", 28)
    found = candidate(history, t0, fix)
    assert (found.snapshot_locations, found.ways) == ((place("big.py", 28),), {"renamed": 1})
    assert found.lineage is not None
    assert found.lineage.ground is None


def test_two_modules_merged_into_one(history):
    parts = CODE.split("\n\n\n")[:8]
    one, two = "\n\n\n".join(parts[:4]) + "\n", "\n\n\n".join(parts[4:]) + "\n"
    t0 = history.commit({"one.py": one, "two.py": two})
    both = one + "\n\n" + two
    merged = history.commit({"one.py": None, "two.py": None, "both.py": both}, "Merge them")
    lines = both.split("\n")
    for text, source in (("    return total_1 + 1", one), ("    return total_6 + 6", two)):
        origin = traced(history, t0, merged, "both.py", lines.index(text) + 1)
        assert origin.place is not None
        assert source.split("\n")[origin.place.line - 1] == text
    fix = history.commit({"both.py": both.replace("+ 6", "- 6")})
    assert candidate(history, t0, fix).snapshot_locations[0].path == "two.py"


def test_code_moved_to_another_file_and_indented(history):
    t0 = history.commit({"a.py": CODE, "b.py": "class B:\n    name = 'b'\n"})
    cut = CODE.index("def step_3")
    end = CODE.index("def step_4")
    block = "".join(
        f"    {line}" if line.strip() else line for line in CODE[cut:end].splitlines(keepends=True)
    )
    text = "class B:\n    name = 'b'\n\n" + block
    moved = history.commit({"a.py": CODE[:cut] + CODE[end:], "b.py": text}, "Move step 3")
    line = text.split("\n").index("        return total_3 + 3") + 1
    assert traced(history, t0, moved, "b.py", line).place == Place(t0, "a.py", 18)


def test_a_moved_defect_is_not_absent(history):
    """The trap of the partial window: the pinned file lacks the code, the snapshot does not."""
    t0 = history.commit({"a.py": CODE, "b.py": "x = 1\n"})
    cut, end = CODE.index("def step_3"), CODE.index("def step_4")
    text = "x = 1\n\n\n" + CODE[cut:end]
    history.commit({"a.py": CODE[:cut] + CODE[end:], "b.py": text})
    fix = history.commit({"b.py": text.replace("sum(items[3:])", "sum(items[2:])")})
    found = candidate(history, t0, fix)
    assert found.lineage is not None
    assert found.lineage.ground is None
    assert found.snapshot_locations == (place("a.py", 17),)


def test_a_formatter_s_run_that_the_project_names_rewrites_nothing(history):
    before = "def f(d):\n    return {'a':d['a'],'b':d['b']}\n"
    t0 = history.commit({"a.py": before})
    after = "def f(d):\n    return {\n        'a': d['a'],\n        'b': d['b'],\n    }\n"
    formatted = history.commit({"a.py": after}, "Run the formatter")
    fix = history.commit({"a.py": after.replace("d['b']", "d.get('b')")}, "fix: b may be missing")
    unnamed = traced(history, t0, formatted, "a.py", 4)
    assert unnamed.writers == (formatted,)
    named = traced(history, t0, formatted, "a.py", 4, formatted)
    assert (named.place, named.writers, named.likeness) == (Place(t0, "a.py", 2), (), 1.0)
    assert candidate(history, t0, fix).ways == {"rewritten": 1}
    history.commit({".git-blame-ignore-revs": f"# formatter\n{formatted}\n"})
    assert candidate(history, t0, fix).ways == {"exact": 1}


def test_a_named_formatter_s_run_cannot_bring_the_lost_word_in(history):
    """Otherwise a line that it wrote would be judged by whether its words were there before."""
    t0 = history.commit({"a.py": "def f(c):\n    return c.table in c.selected_sources\n"})
    renamed = history.commit({"a.py": "def f(c):\n    return c.table in c.sources\n"}, "Rename")
    fix = history.commit({"a.py": "def f(c):\n    return c.table in c.local_names\n"})
    before = candidate(history, t0, fix)
    history.commit({".git-blame-ignore-revs": f"{renamed[:12]}\n{'0' * 40}\n"})
    after = candidate(history, t0, fix)
    assert before.lineage is not None
    assert after.lineage is not None
    assert before.lineage.ground == "postdated_precondition"
    assert after.lineage.ground is None


def test_a_unit_under_another_name_elsewhere_is_found_by_text(history):
    helper = "def helper(items):\n    return weird_but_unique_call(items)\n"
    t0 = history.commit({"tests/util.py": helper, "src/a.py": "x = 1\n"})
    history.commit({"tests/util.py": None})
    text = "def other(items):\n    return weird_but_unique_call(items)\n"
    history.commit({"src/b.py": text}, "Copied from an old clone")
    fix = history.commit({"src/b.py": text.replace("(items)\n", "(list(items))\n")})
    found = candidate(history, t0, fix)
    assert found.ways == {"text": 1}
    assert (found.anchoring, found.snapshot_locations) == ("moved", (place("tests/util.py", 2),))


def test_texts_beyond_the_limit_are_read_again(history, monkeypatch):
    monkeypatch.setattr(replaying, "KEPT_BYTES", 0)
    t0 = history.commit({"a.py": "".join(BODY)})
    first = history.commit({"a.py": "".join(BODY).replace("compute(3)", "compute(3, deep=True)")})
    assert traced(history, t0, first, "a.py", 4).place == Place(t0, "a.py", 4)


def test_a_merge_whose_other_side_cannot_be_read_is_left_to_blame(history, tmp_path, monkeypatch):
    t0 = history.commit({"a.py": "".join(BODY), "b.py": "x = 1\n"})
    history.branch("topic")
    topic = history.commit({"a.py": "born_on_branch = unique(1)\n" + "".join(BODY)})
    history.switch("main")
    history.commit({"b.py": "x = 2\n"})
    merge = history.merge("topic")
    parents = window_parents(history.path, t0, merge)
    blame = Tracer(MirrorHistory(history.path, t0), parents)
    # The request for the merge beside its other parent names that parent on the same line.
    wrap_git(tmp_path, monkeypatch, "diff-tree", over=f"{merge} {topic}")
    with ObjectReader(history.path) as reader:
        found = Replay(history.path, t0, [merge], reader, blame).trace(
            [Place(merge, "a.py", 1), Place(merge, "a.py", 2)]
        )
    assert found[Place(merge, "a.py", 1)].writers == (topic,)
    assert found[Place(merge, "a.py", 2)].place == Place(t0, "a.py", 1)


def test_lines_behind_an_unlisted_commit_are_left_to_blame(history, tmp_path, monkeypatch):
    t0 = history.commit({"a.py": "".join(BODY), "b.py": "x = 1\n"})
    unread = history.commit({"a.py": "new = 0\n" + "".join(BODY)})
    rev = history.commit({"b.py": "x = 2\n"})
    wrap_git(tmp_path, monkeypatch, "diff-tree", over=unread)
    assert traced(history, t0, rev, "a.py", 5).place == Place(t0, "a.py", 4)


def test_no_process_a_commit_a_merge_or_a_file(history, tmp_path, monkeypatch):
    files = {f"m{n}.py": "".join(BODY) for n in range(4)}
    t0 = history.commit(files)
    fixes = []
    for n in range(4):
        history.branch(f"topic{n}")
        fixes.append(
            history.commit({f"m{n}.py": "".join(BODY).replace("(7)", "(70)")}, "fix: seven")
        )
        history.switch("main")
        history.commit({"notes.txt": f"{n}\n"})
        history.merge(f"topic{n}")
    t1 = history.tip("main")
    log = wrap_git(tmp_path, monkeypatch)

    def processes(count: int) -> dict[str, int]:
        log.write_text("")
        with open_past(history.path, t0, t1, SourceScope(), fixes[:count]) as past:
            parents = [past.tracer.parent(fix) for fix in fixes[:count]]
            past.tracer.trace([Place(rev, "m0.py", 8) for rev in parents if rev])
        return calls(log)

    one, four = processes(1), processes(4)
    assert one.keys() | {"diff-tree"} == four.keys()
    assert all(four[command] == one[command] for command in one if command != "diff-tree")
    assert four["diff-tree"] <= 2  # the commits, and the merges beside their other parents
