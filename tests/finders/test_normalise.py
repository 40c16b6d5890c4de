"""From a tool's items to findings, with every oddity counted."""

from probe.finders.locate import SnapshotTree
from probe.finders.normalise import Cleaner, RawItem, headline, normalise

KEY = ("demo", "tool", "all")


def item(path="a.py", first=1, last=None, **more) -> RawItem:
    values = {"column": None, "end_column": None, "rule": None, "title": "", "message": "Wrong."}
    return RawItem(paths=(path,), first=first, last=last, **(values | more))


def place(make_context, items, files=None):
    context = make_context(files or {"a.py": "1\n2\n3\n4\n5\n", "b.py": "1\n"})
    tree = SnapshotTree(context.snapshot_root, context.files)
    return normalise(items, tree, KEY, Cleaner({f"{tree.root}/": "", str(tree.root): "{snapshot}"}))


def test_findings_are_ordered_by_place_and_numbered(make_context):
    given = [item("b.py"), item("a.py", 3), item("a.py", 2, column=9), item("a.py", 2, column=1)]
    placed = place(make_context, given)
    assert [(f.id, f.path, f.first) for f in placed.findings] == [
        ("demo:tool:all:1", "a.py", 2),
        ("demo:tool:all:2", "a.py", 2),
        ("demo:tool:all:3", "a.py", 3),
        ("demo:tool:all:4", "b.py", 1),
    ]


def test_whole_file_items_stand_at_line_one_and_are_counted(make_context):
    placed = place(make_context, [item(first=None), item(first=0, message="Other.")])
    assert [(f.first, f.last) for f in placed.findings] == [(1, 1), (1, 1)]
    assert placed.oddities == {"file_level": 2}


def test_a_start_beyond_the_file_is_rejected_and_an_end_is_put_right(make_context):
    given = [item(first=6), item(first=-1), item(first=2, last=99), item(first=4, last=2)]
    placed = place(make_context, given)
    assert [(f.first, f.last) for f in placed.findings] == [(2, 5), (4, 4)]
    assert [one.reason for one in placed.rejected] == ["no_such_line", "no_such_line"]
    assert placed.rejected[0].detail == "a.py:6 of 5"
    assert placed.oddities == {"end_before_start": 1, "end_beyond_file": 1}


def test_an_end_at_column_one_leaves_that_line_out(make_context):
    placed = place(make_context, [item(first=2, last=4, column=1, end_column=1)])
    assert (placed.findings[0].first, placed.findings[0].last) == (2, 3)


def test_the_same_item_twice_counts_once_but_two_on_one_line_stay_two(make_context):
    given = [item(message="One."), item(message="One."), item(message="Two.")]
    placed = place(make_context, given)
    assert [f.title for f in placed.findings] == ["One.", "Two."]
    assert placed.oddities == {"duplicate": 1}


def test_the_first_path_that_is_in_the_snapshot_counts(make_context):
    several = item()
    several = RawItem(
        paths=("nowhere.py", "b.py"), first=1, last=1, column=None, end_column=None, rule=None,
        title="", message="Wrong.",
    )  # fmt: skip
    assert place(make_context, [several]).findings[0].path == "b.py"


def test_paths_of_this_machine_do_not_reach_a_finding(make_context, tmp_path):
    root = tmp_path.resolve() / "snapshot"
    given = item(
        f"{root}/a.py", message=f"In {root}/a.py", raw={"file": f"{root}/a.py", "at": [str(root)]}
    )
    finding = place(make_context, [given]).findings[0]
    assert finding.description == "In a.py"
    assert finding.raw == {"file": "a.py", "at": ["{snapshot}"]}


def test_lone_surrogates_and_deep_items_can_be_written(make_context):
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    placed = place(make_context, [item(message="bad \ud800 text", raw={"deep": deep})])
    written = placed.findings[0].model_dump_json()
    assert "bad ? text" in written
    assert "bottom" not in written


def test_a_title_is_the_first_sentence_of_a_long_message():
    assert headline("Short. And more.") == "Short. And more."
    assert headline("First. " + "x" * 300) == "First"
    assert headline("\n\n  second line\nthird") == "second line"
    assert len(headline("y" * 300)) == 160
