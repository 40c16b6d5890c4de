"""How old what a fix adds to is: tables, classes, second entrances, and lines that git cannot trace."""

from pathlib import Path

import pytest
from badgit import wrap_git
from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.git.log import iter_window
from probe.records import Candidate, Dropped, Lineage
from probe.reference.candidates import build_candidates
from probe.reference.extract import UNREADABLE


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def built(history: HistoryBuilder, t0: str, *fixes: str) -> tuple[list[Candidate], list[Dropped]]:
    t1 = history.tip("main")
    window = [commit for commit in iter_window(history.path, t0, t1) if commit.sha in fixes]
    return build_candidates(history.path, t0, t1, window, SourceScope())


def lineage(history: HistoryBuilder, t0: str, fix: str) -> Lineage:
    (candidate,), _ = built(history, t0, fix)
    assert candidate.lineage is not None
    return candidate.lineage


GATES = """def enter(request):
    user = request.user
    return open_door(user)


def enter_by_post(request):
    user = request.form_user
    return open_door(user)
"""
LATER = "\n\ndef is_known(user):\n    return user.known_since > 0\n"


def test_an_omission_beside_a_later_line_is_judged_by_its_own_place(history):
    """The fix corrects a later helper, and adds a check where the snapshot had none."""
    t0 = history.commit({"a.py": GATES})
    history.commit({"a.py": GATES + LATER}, "feat: know users")
    checked = GATES.replace(
        "    user = request.form_user\n",
        "    user = request.form_user\n    if user.is_blocked:\n        raise Blocked(user)\n",
    )
    fix = history.commit({"a.py": checked + LATER.replace("> 0", ">= 0 and user.alive")})
    found = lineage(history, t0, fix)
    assert (found.ground, found.confidence) == (None, 0.5)
    assert found.rationale.endswith("adds to code of the snapshot, apart from the faulty lines")


def test_an_addition_to_a_rewritten_unit_counts_for_nothing(history):
    t0 = history.commit({"a.py": "def f(x):\n    return x.whole\n"})
    history.commit({"a.py": "def f(x):\n    part = x.parts.pop()\n    return x.whole\n"})
    fix = history.commit(
        {
            "a.py": "def f(x):\n    part = x.parts.popleft()\n    if part:\n        log(part)\n"
            "        keep(part)\n    return x.whole\n"
        }
    )
    assert lineage(history, t0, fix).ground == "postdated_precondition"


TABLE = """class Generator:
    NAMES = {
        Alpha: "alpha",
        Beta: "beta",
    }
"""


@pytest.mark.parametrize(
    ("window", "entry", "kept"),
    [
        ({"types.py": "class Alpha: ...\n\n\nclass Gamma: ...\n"}, "Gamma", False),
        ({}, "Delta", True),
    ],
    ids=["a class that came later", "a class of the snapshot"],
)
def test_an_entry_is_as_old_as_what_it_is_about(history, window, entry, kept):
    t0 = history.commit(
        {"gen.py": TABLE, "types.py": "class Alpha: ...\n", "more.py": "class Delta: ...\n"}
    )
    history.commit({"notes.txt": "x\n", **window})
    text = TABLE.replace('"beta",\n', f'"beta",\n        {entry}: "it",\n')
    fix = history.commit({"gen.py": text})
    assert (lineage(history, t0, fix).ground is None) == kept


def test_a_new_name_of_something_old_is_not_later(history):
    old = "class Generator:\n    NAMES = {\n" + "".join(
        f"        DataType.Type.KIND_{n}: 'kind {n}',\n" for n in range(6)
    )
    t0 = history.commit({"gen.py": old + "    }\n", "t.py": "class DataType:\n    Type = 1\n"})
    renamed = old.replace("DataType.Type.", "DType.")
    history.commit({"gen.py": renamed + "    }\n", "t.py": "class DType:\n    JSON = 1\n"})
    fix = history.commit({"gen.py": renamed + "        DType.KIND_9: 'kind 9',\n    }\n"})
    assert lineage(history, t0, fix).ground is None


def test_a_setting_of_a_class_that_moved_is_an_omission(history):
    flags = "".join(f"    SUPPORTS_THING_{n} = compute_support({n})\n" for n in range(12))
    later = "    LATER_ONE = later_value(1)\n"
    t0 = history.commit({"dialect.py": f"class Generator:\n{flags}"})
    moved = f"class DialectGenerator:\n{flags}{later}"
    history.commit({"dialect.py": None, "generators/dialect.py": moved})
    fix = history.commit({"generators/dialect.py": moved + "    OVERWRITE = ' OVERWRITE'\n"})
    assert lineage(history, t0, fix).ground is None


def test_a_setting_of_a_class_that_came_later_is_dropped(history):
    t0 = history.commit({"a.py": "x = 1\n"})
    born = "class Later:\n    one_thing = first(1)\n    other_thing = second(2)\n"
    history.commit({"later.py": born})
    fix = history.commit({"later.py": born + "    third_thing = third(3)\n"})
    assert lineage(history, t0, fix).ground is not None


def test_lines_that_git_cannot_trace_are_kept_in_doubt(history):
    """A blob on the way is missing: that is no proof of absence."""
    t0 = history.commit({"a.py": "def f(x):\n    return x.one\n"})
    lost = history.commit({"a.py": "def f(x):\n    y = 1\n    return x.one\n"})
    parent = history.commit({"a.py": "def f(x):\n    y = 2\n    return x.one + y\n"})
    fix = history.commit({"a.py": "def f(x):\n    y = 2\n    return x.one - y.two\n"})
    history.lose_blob(lost, "a.py")
    found = lineage(history, t0, fix)
    assert parent != t0
    assert (found.ground, found.confidence) == (None, 0.5)
    assert found.rationale.startswith("git cannot say where")


def three_fixes(history):
    """A snapshot of three functions, and a fix of each."""
    text = "".join(f"def f_{n}(x):\n    return x.value_{n}\n\n\n" for n in range(3))
    t0 = history.commit({"a.py": text})
    fixes = []
    for n in range(3):
        text = text.replace(f"x.value_{n}", f"x.get_{n}()")
        fixes.append(history.commit({"a.py": text}, f"fix: {n}"))
    return t0, fixes


def test_a_fix_whose_parent_cannot_be_read_is_named_and_alone(history, tmp_path, monkeypatch):
    t0, fixes = three_fixes(history)
    before, _ = built(history, t0, *fixes)
    wrap_git(tmp_path, monkeypatch, "cat-file", over=fixes[2])
    candidates, left_out = built(history, t0, *fixes)
    assert candidates == before[:2]
    (left,) = left_out
    assert (left.commit, left.reason) == (fixes[2], UNREADABLE)
    assert left.detail == "git cannot read a.py"


def test_a_fix_whose_diff_fails_is_named_and_alone(history, tmp_path, monkeypatch):
    t0, fixes = three_fixes(history)
    before, _ = built(history, t0, *fixes)
    wrap_git(tmp_path, monkeypatch, "diff-tree", over=fixes[1])
    candidates, left_out = built(history, t0, *fixes)
    assert [c.commit for c in candidates] == [fixes[0], fixes[2]]
    assert candidates[0] == before[0]
    assert candidates[1].snapshot_locations == before[2].snapshot_locations
    (left,) = left_out
    assert (left.commit, left.reason) == (fixes[1], UNREADABLE)
    assert left.detail.endswith("fatal: broken on purpose")
