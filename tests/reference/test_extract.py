"""Small histories: what of a fix is a candidate, and what is left out."""

from pathlib import Path

import pytest
from builders import HistoryBuilder, executable

from probe.code.paths import SourceScope
from probe.git.log import iter_diffs
from probe.git.objects import ObjectReader
from probe.records import Dropped, Location
from probe.reference.extract import (
    CUT,
    MAX_FAULTY_LINES,
    NO_BEHAVIOUR,
    NO_CONTENT,
    NO_PARENT,
    NO_PRODUCTION,
    TOO_LARGE,
    UNREADABLE,
    Extracted,
    extract,
    render_fix,
    runs,
)

SCOPE = SourceScope()


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def extracted(history: HistoryBuilder, before, after, scope=SCOPE) -> Extracted | Dropped:
    """Commit ``before``, then ``after``, and extract the second commit."""
    parent = history.commit(before)
    fix = history.commit(after, "fix: it")
    (diff,) = iter_diffs(history.path, [fix])
    with ObjectReader(history.path) as reader:
        return extract(diff, parent, scope, reader.read)


def reason(found: Extracted | Dropped) -> str:
    assert isinstance(found, Dropped)
    assert found.stage == "extract"
    return found.reason


def faulty(found: Extracted | Dropped) -> dict[str, tuple[int, ...]]:
    assert isinstance(found, Extracted)
    return {file.path: file.faulty for file in found.files}


def test_changed_lines_are_faulty_lines_of_the_parent(history):
    found = extracted(
        history,
        {"a.py": "def f(x):\n    y = x + 1\n    return y\n"},
        {"a.py": "def f(x):\n    y = x - 1\n    return y\n"},
    )
    assert faulty(found) == {"a.py": (2,)}
    assert isinstance(found, Extracted)
    assert not found.additive
    assert found.parent_locations() == (Location(path="a.py", first=2, last=2),)
    assert found.files[0].lost == (frozenset(),)
    assert "-    y = x + 1\n+    y = x - 1\n" in found.suggested_fix


def test_words_that_the_fix_takes_away_are_known(history):
    found = extracted(
        history, {"a.py": "y = old(x)\nz = y\n"}, {"a.py": "y = new(x)\nz = int(y)\n"}
    )
    assert isinstance(found, Extracted)
    assert found.files[0].lost == (frozenset({"old"}), frozenset())


def test_a_purely_additive_fix_has_insertion_points(history):
    found = extracted(
        history,
        {"a.py": "def f(x):\n    return x.y\n"},
        {"a.py": "def f(x):\n    if x is None:\n        return None\n    return x.y\n"},
    )
    assert isinstance(found, Extracted)
    assert found.additive
    assert found.insertion_points() == (Location(path="a.py", first=1, last=1),)
    assert found.parent_locations() == ()


def test_only_production_files_count(history):
    found = extracted(
        history,
        {"pkg/a.py": "x = 1\n", "tests/test_a.py": "y = 1\n", "docs/a.md": "one\n"},
        {"pkg/a.py": "x = 2\n", "tests/test_a.py": "y = 2\n", "docs/a.md": "two\n"},
    )
    assert faulty(found) == {"pkg/a.py": (1,)}
    assert isinstance(found, Extracted)
    assert "test_a" not in found.suggested_fix


def test_the_inventory_says_what_production_is(history):
    scope = SourceScope(source=["lib/"])
    found = extracted(
        history, {"lib/spec.sql": "select 1\n"}, {"lib/spec.sql": "select 2\n"}, scope
    )
    assert faulty(found) == {"lib/spec.sql": (1,)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = f(a, 'b')\n", 'x = f(\n    a,\n    "b",\n)\n'),
        ("x = 1  # one\n", "x = 1  # the first\n"),
        (
            'def f():\n    """Old."""\n    return 1\n',
            'def f():\n    """New\n\n    >>> f()\n    """\n    return 1\n',
        ),
        ("x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
        ("x = 1\n", "\n\nx = 1\n"),
    ],
    ids=["formatting", "comment", "doctest in a docstring", "line ends", "blank lines"],
)
def test_what_changes_no_token_is_no_fix(history, before, after):
    found = extracted(history, {"a.py": before}, {"a.py": after})
    assert reason(found) == NO_BEHAVIOUR


LAID_OUT = {
    "black wraps": (
        "a.py",
        "value = first(a) or second(b)\nreturn_code = x['key'] if y else z\n",
        'value = (\n    first(a)\n    or second(b)\n)\nreturn_code = x["key"] if y else z\n',
    ),
    "prettier": (
        "a.js",
        "const f = x => { return x.map(y => y.id) }\nconst s = 'one'\n",
        'const f = (x) => {\n  return x.map((y) => y.id);\n};\nconst s = "one";\n',
    ),
    "a TypeScript arrow": ("a.ts", "const f = x => x + 1\n", "const f = (x) => x + 1;\n"),
    "indentation in JavaScript": (
        "a.js",
        "function f(x) {\n  if (x) {\n    g(x)\n  }\n}\n",
        "function f(x) {\n\tif (x) {\n\t\tg(x)\n\t}\n}\n",
    ),
    "quotes": ("a.ts", "const s: string = 'a'\n", 'const s: string = "a"\n'),
}


@pytest.mark.parametrize(("path", "before", "after"), LAID_OUT.values(), ids=LAID_OUT)
def test_a_formatter_s_run_is_no_fix(history, path, before, after):
    assert reason(extracted(history, {path: before}, {path: after})) == NO_BEHAVIOUR


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = a + b * c\n", "x = (a + b) * c\n"),
        ("a.js", "const f = () => ({ a: 1 })\n", "const f = () => { a: 1 }\n"),
        ("a.js", "const f = x => x\n", "const f = (x = 1) => x\n"),
        ("a.py", "s = 'it'\n", "s = f'it'\n"),
    ],
    ids=["precedence", "an object body", "a default", "a prefix"],
)
def test_what_only_looks_like_layout_is_a_fix(history, path, before, after):
    assert faulty(extracted(history, {path: before}, {path: after})) == {path: (1,)}


def test_a_fix_inside_a_conversion_of_line_ends_is_found(history):
    lines = [f"value_{n} = compute({n})\r\n" for n in range(300)]
    after = [line.replace("\r", "") for line in lines]
    after[41] = "value_41 = compute(0)\n"
    after.insert(200, "extra = 1\n")
    found = extracted(history, {"a.py": "".join(lines)}, {"a.py": "".join(after)})
    assert faulty(found) == {"a.py": (42,)}
    assert isinstance(found, Extracted)
    assert found.insertion_points() == (Location(path="a.py", first=200, last=200),)


def test_a_fix_beside_a_change_of_mode_is_found(history):
    found = extracted(history, {"a.py": "x = 1\ny = 1\n"}, {"a.py": executable("x = 1\ny = 2\n")})
    assert faulty(found) == {"a.py": (2,)}


def test_a_reindented_block_in_javascript_is_narrowed_to_what_was_added(history):
    found = extracted(
        history,
        {"a.js": "function f(x) {\n  g(x)\n  h(x)\n}\n"},
        {"a.js": "function f(x) {\n  if (x) {\n    g(x)\n    h(x)\n  }\n}\n"},
    )
    assert isinstance(found, Extracted)
    assert found.additive
    assert found.insertion_points()[0] == Location(path="a.js", first=1, last=1)


def test_a_renamed_file_alone_is_no_fix(history):
    lines = "".join(f"line_{n} = {n}\n" for n in range(20))
    assert reason(extracted(history, {"old.py": lines}, {"old.py": None, "new.py": lines})) == (
        NO_CONTENT
    )


def test_changes_beyond_the_size_limit_are_named(history):
    parent = history.commit({"a.py": "x = 1\n"})
    fix = history.commit({"a.py": "".join(f"x_{n} = {n}\n" for n in range(30))})
    (diff,) = iter_diffs(history.path, [fix], max_file_lines=10)
    with ObjectReader(history.path) as reader:
        found = extract(diff, parent, SCOPE, reader.read)
    assert reason(found) == TOO_LARGE
    assert isinstance(found, Dropped)
    assert found.detail == "a.py"


def test_a_fix_of_two_thousand_files_is_extracted(history):
    before = {f"pkg/m{n:04}.py": f"x = {n}\n" for n in range(2000)}
    after = {path: text.replace("x", "y") for path, text in before.items()}
    found = extracted(history, before, after)
    assert isinstance(found, Extracted)
    assert sum(len(file.faulty) for file in found.files) <= MAX_FAULTY_LINES


def test_commits_without_production_hunks_say_why(history):
    assert reason(extracted(history, {"tests/t.py": "a\n"}, {"tests/t.py": "b\n"})) == (
        NO_PRODUCTION
    )
    mode_only = extracted(history, {"a.py": "x = 1\n"}, {"a.py": executable("x = 1\n")})
    assert reason(mode_only) == NO_CONTENT


def test_a_root_commit_has_no_parent(history):
    root = history.commit({"a.py": "x = 1\n"})
    (diff,) = iter_diffs(history.path, [root])
    with ObjectReader(history.path) as reader:
        assert reason(extract(diff, None, SCOPE, reader.read)) == NO_PARENT


def test_imports_count_only_where_nothing_else_does(history):
    before = "import os\nx = 1\n"
    both = extracted(history, {"a.py": before}, {"a.py": "import sys\nx = 2\n"})
    assert faulty(both) == {"a.py": (2,)}
    alone = extracted(history, {"b.py": before}, {"b.py": "import sys\nx = 1\n"})
    assert faulty(alone) == {"b.py": (1,)}


def test_annotations_count_only_where_nothing_else_does(history):
    before = "def f(a: int):\n    return a\n"
    typed = "def f(a: float):\n    return a\n"
    alone = extracted(history, {"a.py": before}, {"a.py": typed})
    assert faulty(alone) == {"a.py": (1,)}
    both = extracted(history, {"b.py": before}, {"b.py": typed.replace("return a", "return -a")})
    assert isinstance(both, Extracted)
    # one hunk: its lines cannot be told apart, so both stay
    assert both.files[0].path == "b.py"


def test_typescript_types_are_behaviour(history):
    found = extracted(
        history, {"a.ts": "let x: string\nlet y = 1\n"}, {"a.ts": "let x: number\nlet y = 1\n"}
    )
    assert faulty(found) == {"a.ts": (1,)}


def test_moved_code_is_left_out_beside_a_real_change(history):
    body = "def helper(a, b):\n    return a * b + a\n"
    found = extracted(
        history,
        {"a.py": f"{body}\n\nkept = 0\nx = 1\n", "b.py": "y = 1\n"},
        {"a.py": "kept = 0\nx = 2\n", "b.py": f"y = 1\n\n\n{body}"},
    )
    assert faulty(found) == {"a.py": (6,)}


def test_a_reindented_block_is_narrowed_to_what_changed(history):
    found = extracted(
        history,
        {"a.py": "def f(x):\n    a = x.one\n    b = x.two\n    return a\n"},
        {"a.py": "def f(x):\n    if x:\n        a = x.one\n        b = x.three\n    return a\n"},
    )
    assert faulty(found) == {"a.py": (3,)}


def test_a_dedented_statement_is_a_fix(history):
    found = extracted(
        history,
        {"a.py": "def f(x):\n    for y in x:\n        z = y\n        return z\n"},
        {"a.py": "def f(x):\n    for y in x:\n        z = y\n    return z\n"},
    )
    assert faulty(found) == {"a.py": (4,)}


def test_a_renamed_file_is_named_as_in_the_parent(history):
    lines = "".join(f"line_{n} = {n}\n" for n in range(20))
    found = extracted(
        history, {"old.py": lines}, {"old.py": None, "new.py": lines.replace("= 7\n", "= 8\n")}
    )
    assert faulty(found) == {"old.py": (8,)}


def test_a_fix_that_only_adds_a_file_keeps_its_name(history):
    found = extracted(history, {"a.py": "x = 1\n"}, {"b.py": "y = 1\n"})
    assert isinstance(found, Extracted)
    assert (found.files, found.new_files) == ((), ("b.py",))


def test_a_missing_blob_is_named(history):
    parent = history.commit({"a.py": "x = 1\n"})
    fix = history.commit({"a.py": "x = 2\n"})
    history.lose_blob(fix, "a.py")
    (diff,) = iter_diffs(history.path, [fix])
    with ObjectReader(history.path) as reader:
        found = extract(diff, parent, SCOPE, reader.read)
    assert reason(found) == UNREADABLE
    assert isinstance(found, Dropped)
    assert found.detail == "blobs are missing: a.py"


def test_code_that_does_not_parse_is_extracted_all_the_same(history):
    found = extracted(history, {"a.py": "def f(:\n    x = 1\n"}, {"a.py": "def f():\n    x = 1\n"})
    assert faulty(found) == {"a.py": (1,)}


def test_runs_join_neighbours():
    assert runs([1, 2, 5]) == [(1, 2), (5, 5)]
    assert runs([]) == []


def test_a_long_fix_is_cut_to_the_budget(history):
    history.commit({"a.py": "x = 1\n"})
    fix = history.commit({"a.py": "".join(f"x_{n} = {n}\n" for n in range(2000))})
    (diff,) = iter_diffs(history.path, [fix])
    text = render_fix(diff.files, budget=500)
    assert len(text) <= 500
    assert text.startswith("--- a.py\n+++ a.py\n@@ -1,1 +1,2000 @@")
    assert text.endswith(f"\n{CUT}")
