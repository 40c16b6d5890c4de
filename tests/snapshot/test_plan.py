import random

from hypothesis import given
from hypothesis import strategies as st

from probe.records import SnapshotFile
from probe.snapshot.plan import WHOLE, build_plan, whole_pass


def snapshot_file(path, tokens=100, *, audited=True, blob="a" * 40, lines=10):
    return SnapshotFile(
        path=path,
        blob=blob,
        size=1,
        language="python",
        lines=lines,
        tokens=tokens if audited else 0,
        audited=audited,
        reason=None if audited else "test",
    )


def contents(plan):
    return {one.id: one.files for one in plan}


def test_what_fits_together_is_one_pass():
    files = [snapshot_file("pkg/a.py"), snapshot_file("pkg/sub/b.py")]
    assert contents(build_plan(files, 200)) == {"pkg-1": ("pkg/a.py", "pkg/sub/b.py")}


def test_folders_are_split_where_the_budget_demands_it():
    files = [snapshot_file(f"pkg/{name}.py", 100) for name in ("a", "b", "c", "x/d", "x/e")]
    assert contents(build_plan(files, 200)) == {
        "pkg-1": ("pkg/a.py", "pkg/b.py"),
        "pkg-c-py-1": ("pkg/c.py",),
        "pkg-x-1": ("pkg/x/d.py", "pkg/x/e.py"),
    }


def test_a_file_above_the_budget_is_a_pass_of_its_own():
    plan = build_plan([snapshot_file("a.py", 500), snapshot_file("b.py", 1)], 200)
    assert [(one.kind, one.files) for one in plan] == [
        ("individual", ("a.py",)),
        ("batch", ("b.py",)),
    ]


def test_what_is_not_audited_is_not_planned():
    files = [snapshot_file("a.py"), snapshot_file("test_a.py", audited=False)]
    assert contents(build_plan(files, 200)) == {"a-py-1": ("a.py",)}
    assert whole_pass(files).files == ("a.py",)
    assert whole_pass(files).id == WHOLE


def test_the_hash_follows_the_content():
    before = build_plan([snapshot_file("a.py")], 200)[0]
    same = build_plan([snapshot_file("a.py", lines=99)], 200)[0]
    other = build_plan([snapshot_file("a.py", blob="b" * 40)], 200)[0]
    assert before.content_sha256 == same.content_sha256 != other.content_sha256


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


@given(st.dictionaries(PATHS, st.integers(1, 300), max_size=20), st.randoms(use_true_random=False))
def test_every_audited_file_is_in_one_pass_and_order_does_not_matter(tokens, rng: random.Random):
    files = [snapshot_file(f"{path}.py", count) for path, count in tokens.items()]
    plan = build_plan(files, 200)
    planned = [path for one in plan for path in one.files]
    assert sorted(planned) == sorted(file.path for file in files)
    assert all(one.tokens <= 200 or len(one.files) == 1 for one in plan)
    assert len({one.id for one in plan}) == len(plan)
    shuffled = list(files)
    rng.shuffle(shuffled)
    assert build_plan(shuffled, 200) == plan
