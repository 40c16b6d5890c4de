"""Where a path that a finder wrote points to."""

import pytest

from probe.finders.locate import NotInSnapshotError, SnapshotTree


@pytest.fixture
def tree(make_context, tmp_path):
    (tmp_path / "secret.py").write_text("password = 1\n")
    context = make_context(
        {
            "src/a.py": "x = 1\ny = 2\n",
            "empty.py": "",
            "my file%.py": "z = 3",
            "win.py": "a\r\nb\r\n",
        },
        links={"alias.py": "src/a.py", "folder": "src", "out.py": "../secret.py", "loop": "loop"},
    )
    return SnapshotTree(context.snapshot_root, context.files)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("src/../src/a.py", "src/a.py"),
        ("src\\a.py", "src/a.py"),
        ("my file%.py", "my file%.py"),
        ("alias.py", "src/a.py"),
        ("folder/a.py", "src/a.py"),
    ],
)
def test_a_path_inside_is_found(tree, written, path):
    assert tree.locate(written) == path


def test_an_absolute_path_below_the_root_is_found(tree):
    assert tree.locate(f"{tree.root}/src/a.py") == "src/a.py"


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "no_location"),
        ("a\0b", "no_location"),
        ("../secret.py", "outside_snapshot"),
        ("src/../../secret.py", "outside_snapshot"),
        ("..\\secret.py", "outside_snapshot"),
        ("/etc/passwd", "outside_snapshot"),
        ("//host/share/a.py", "outside_snapshot"),
        ("C:\\repo\\src\\a.py", "outside_snapshot"),
        ("c:/repo/src/a.py", "outside_snapshot"),
        ("out.py", "outside_snapshot"),
        ("src", "no_such_file"),
        (".", "no_such_file"),
        ("loop", "no_such_file"),
        ("loop/a.py", "no_such_file"),
        ("missing.py", "no_such_file"),
        ("x" * 5000, "no_such_file"),
    ],
)
def test_any_other_path_is_refused_with_its_reason(tree, written, reason):
    with pytest.raises(NotInSnapshotError) as refusal:
        tree.locate(written)
    assert refusal.value.reason == reason


def test_a_neighbour_whose_name_begins_like_the_root_is_outside(tree):
    with pytest.raises(NotInSnapshotError) as refusal:
        tree.locate(f"{tree.root}-other/src/a.py")
    assert refusal.value.reason == "outside_snapshot"


def test_lines_are_counted_as_git_counts_them_and_an_empty_file_has_one(tree):
    assert tree.line_count("src/a.py") == 2
    assert tree.line_count("my file%.py") == 1
    assert tree.line_count("empty.py") == 1
    assert tree.line_count("win.py") == 2


def test_a_snippet_holds_the_lines_and_is_bounded(make_context):
    text = "\n".join(f"line {n}" for n in range(1, 101)) + "\n"
    context = make_context({"long.py": text, "wide.py": "x" * 100_000})
    tree = SnapshotTree(context.snapshot_root, context.files)
    assert tree.snippet("long.py", 2, 3) == "line 2\nline 3"
    assert tree.snippet("long.py", 11, 100).splitlines()[-1] == "line 50"
    assert len(tree.snippet("wide.py", 1, 1)) == 4000
