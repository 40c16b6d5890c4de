"""The labels of the bundled repository, proved by running its history.

Every bug has a reproducer (``resources/demo/reproducers/harness.py`` states the exit codes). It is run
at T0, before and after each fix, and at T1; every commit of the window is labelled exactly once.
"""

import csv
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest

from probe.git.process import run_git
from probe.git.series import build_series

DEMO = Path(__file__).parents[2] / "resources" / "demo"
T0_DATE = "2025-01-06T00:00:00Z"
KINDS = {
    "fix", "feature", "refactor", "docs", "test", "chore", "ci", "deps", "style", "perf", "revert",
    "release",
}  # fmt: skip
WORDS = {1: "BUG: ", 0: "OK: ", 2: "N/A: "}


class Run(NamedTuple):
    """One reproducer on one checkout."""

    bug: str
    sha: str


class Demo(NamedTuple):
    """The rebuilt repository and its ends."""

    repo: Path
    t0: str
    t1: str


def read(name: str) -> list[dict[str, str]]:
    with (DEMO / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


COMMITS = read("truth.tsv")
BUGS = {row["bug"]: row for row in read("truth_bugs.tsv")}
PRESENT = [bug for bug, row in BUGS.items() if row["present_at_t0"] == "yes"]
BORN_LATER = [bug for bug, row in BUGS.items() if row["present_at_t0"] == "no"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    repo = tmp_path_factory.mktemp("demo") / "history.git"
    t1 = build_series(DEMO, repo)
    before = ("--first-parent", "-1", f"--before={T0_DATE}", "main")
    return Demo(repo, run_git(repo, "rev-list", *before).decode().strip(), t1)


@pytest.fixture(scope="module")
def parents(demo: Demo) -> dict[str, list[str]]:
    """Parents of the window's commits, merges included."""
    listing = run_git(demo.repo, "rev-list", "--parents", f"{demo.t0}..{demo.t1}").decode()
    return {sha: rest for sha, *rest in (line.split() for line in listing.splitlines())}


def wanted_runs(demo: Demo, parents: dict[str, list[str]]) -> Iterable[Run]:
    for bug, row in BUGS.items():
        fixes = row["fixes"].split()
        places = {demo.t0, demo.t1, fixes[-1], *(parents[sha][0] for sha in fixes)}
        if row["introduced"] != "-":
            places |= {row["introduced"], parents[row["introduced"]][0]}
        yield from (Run(bug, sha) for sha in sorted(places))


def check_out(repo: Path, sha: str, folder: Path) -> Path:
    with tarfile.open(fileobj=BytesIO(run_git(repo, "archive", "--format=tar", sha))) as archive:
        archive.extractall(folder, filter="data")
    return folder


def reproducer_of(run: Run) -> str:
    return BUGS[run.bug]["reproducer"]


def reproduce(run: Run, checkout: Path) -> int:
    """The exit code, once it is certain that it is the reproducer's verdict."""
    script = DEMO / reproducer_of(run)
    python = [sys.executable, "-S", "-B", "-W", "ignore"]
    command = [*(["node"] if script.suffix == ".js" else python), str(script)]
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=60
    )
    said = f"{run}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    assert done.returncode in WORDS, said
    assert done.stdout.startswith(WORDS[done.returncode]), said
    assert (done.stdout + done.stderr).count("\n") == 1, said
    return done.returncode


class Codes:
    """Exit codes of the reproducers wherever a label says something about them.

    All reproducers of a language run together, when the first of them is asked for.
    """

    def __init__(self, demo: Demo, parents: dict[str, list[str]], folder: Path) -> None:
        self.repo = demo.repo
        self.runs = list(wanted_runs(demo, parents))
        self.folder = folder
        self.known: dict[Run, int] = {}

    def __call__(self, bug: str, sha: str) -> int:
        run = Run(bug, sha)
        if run not in self.known:
            suffix = Path(BUGS[bug]["reproducer"]).suffix
            self.known.update(self.measure([r for r in self.runs if suffix in reproducer_of(r)]))
        return self.known[run]

    def measure(self, runs: list[Run]) -> dict[Run, int]:
        for sha in sorted({run.sha for run in runs}):
            if not (self.folder / sha).exists():
                check_out(self.repo, sha, self.folder / sha)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            codes = list(pool.map(lambda run: reproduce(run, self.folder / run.sha), runs))
        return dict(zip(runs, codes, strict=True))


@pytest.fixture(scope="module")
def codes(
    demo: Demo, parents: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Codes:
    return Codes(demo, parents, tmp_path_factory.mktemp("checkouts"))


def window_order(demo: Demo) -> list[str]:
    """By first-parent step, then topologically inside the step; merges left out."""
    span = f"{demo.t0}..{demo.t1}"
    steps = run_git(demo.repo, "rev-list", "--first-parent", "--reverse", span).decode().split()
    order: list[str] = []
    done = demo.t0
    for step in steps:
        new = ("--topo-order", "--reverse", "--no-merges", step, f"^{done}", f"^{demo.t0}")
        order += run_git(demo.repo, "rev-list", *new).decode().split()
        done = step
    return order


def test_every_commit_of_the_window_is_labelled_once_in_order(demo: Demo) -> None:
    assert [row["sha"] for row in COMMITS] == window_order(demo)
    assert [row["position"] for row in COMMITS] == [str(n) for n in range(len(COMMITS))]


def test_commit_labels_agree_with_bug_labels(demo: Demo) -> None:
    listing = run_git(demo.repo, "log", "--no-merges", "--format=%H%x09%s", "main").decode()
    subjects = dict(line.split("\t", 1) for line in listing.splitlines())
    fixes: dict[str, list[str]] = {}
    for row in COMMITS:
        assert row["subject"] == subjects[row["sha"]]
        assert row["kind"] in KINDS
        bugs = [bug for bug in row["bugs"].split() if bug != "-"]
        assert row["is_bug_fix"] == ("yes" if bugs else "no"), row
        for bug in bugs:
            fixes.setdefault(bug, []).append(row["sha"])
    assert fixes == {bug: row["fixes"].split() for bug, row in BUGS.items()}


def test_the_history_is_as_rich_as_promised(demo: Demo, parents: dict[str, list[str]]) -> None:
    fixing = [row for row in COMMITS if row["is_bug_fix"] == "yes"]
    assert len(COMMITS) == 67
    assert len(fixing) == 37
    assert len(PRESENT) == 31
    assert len(BORN_LATER) == 4
    assert sum(len(known) == 2 for known in parents.values()) == 2
    assert sum(" " in row["fixes"] for row in BUGS.values()) == 3
    assert sum(" " in row["bugs"] for row in COMMITS) == 1
    authors = run_git(demo.repo, "log", "--format=%ae", "main").decode().split()
    assert {address.rsplit("@", 1)[1] for address in authors} == {"example.org"}


def cases(bugs: list[str]) -> Iterable[object]:
    web = {bug for bug in bugs if BUGS[bug]["reproducer"].endswith(".js")}
    return [pytest.param(bug, marks=[pytest.mark.node] if bug in web else []) for bug in bugs]


@pytest.mark.parametrize("bug", cases(PRESENT))
def test_bug_of_the_snapshot(
    demo: Demo, parents: dict[str, list[str]], codes: Codes, bug: str
) -> None:
    """Each fix finds the bug in its parent, also the second of two and the backport."""
    fixes = BUGS[bug]["fixes"].split()
    assert codes(bug, demo.t0) == 1
    assert [codes(bug, parents[sha][0]) for sha in fixes] == [1] * len(fixes)
    assert codes(bug, fixes[-1]) == 0
    assert codes(bug, demo.t1) == 0


@pytest.mark.parametrize("bug", cases(BORN_LATER))
def test_bug_born_in_the_window(
    demo: Demo, parents: dict[str, list[str]], codes: Codes, bug: str
) -> None:
    born, fixes = BUGS[bug]["introduced"], BUGS[bug]["fixes"].split()
    assert codes(bug, demo.t0) in {0, 2}
    assert codes(bug, parents[born][0]) in {0, 2}
    assert codes(bug, born) == 1
    assert [codes(bug, parents[sha][0]) for sha in fixes] == [1] * len(fixes)
    assert codes(bug, fixes[-1]) == 0
    assert codes(bug, demo.t1) == 0


def test_places_in_the_snapshot(demo: Demo) -> None:
    """Each named place exists at T0, in a file that each fix changes."""
    renamed = {"src/larder/schedule.py": "src/larder/recurrence.py"}
    for bug in PRESENT:
        row = BUGS[bug]
        for fix in row["fixes"].split():
            names = ("diff-tree", "--no-commit-id", "--name-only", "-r", fix)
            changed = run_git(demo.repo, *names).decode().splitlines()
            assert {row["path"], renamed.get(row["path"])} & set(changed), bug
        lines = run_git(demo.repo, "cat-file", "blob", f"{demo.t0}:{row['path']}").split(b"\n")
        first, last = int(row["first"]), int(row["last"])
        assert 1 <= first <= last < len(lines)
        assert all(line.strip() for line in lines[first - 1 : last]), bug
        for other in row["others"].split():
            if other != "-":
                path, _, span = other.partition(":")
                low, high = map(int, span.split("-"))
                blob = run_git(demo.repo, "cat-file", "blob", f"{demo.t0}:{path}")
                assert 1 <= low <= high <= blob.count(b"\n"), bug
    assert all(BUGS[bug]["path"] == "-" for bug in BORN_LATER)


def test_one_reproducer_a_bug() -> None:
    files = {path.name for path in (DEMO / "reproducers").iterdir() if path.is_file()}
    named = {row["reproducer"].removeprefix("reproducers/") for row in BUGS.values()}
    assert files == named | {"harness.py", "harness.js"}
    assert len(named) == len(BUGS)


def test_a_file_in_latin_1_is_touched_by_a_fix(demo: Demo) -> None:
    fix = BUGS["legacy-decimal-comma"]["fixes"]
    diff = run_git(demo.repo, "show", "--format=", fix, "--", BUGS["legacy-decimal-comma"]["path"])
    assert "Küchenkartei".encode("latin-1") in diff
    with pytest.raises(UnicodeDecodeError):
        diff.decode("utf-8")


@pytest.mark.parametrize("end", ["t0", "t1"])
def test_the_library_passes_its_own_tests(demo: Demo, tmp_path: Path, end: str) -> None:
    checkout = check_out(demo.repo, getattr(demo, end), tmp_path / end)
    command = [sys.executable, "-B", "-W", "ignore", "-m", "unittest", "discover", "-stests", "-t."]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": "src"}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"t0": "Ran 57 tests", "t1": "Ran 85 tests"}[end] in done.stderr


@pytest.mark.node
def test_the_web_scripts_pass_their_own_tests(demo: Demo, tmp_path: Path) -> None:
    for name, sha in (("t0", demo.t0), ("t1", demo.t1)):
        checkout = check_out(demo.repo, sha, tmp_path / name)
        command = ["node", "--test", *map(str, sorted((checkout / "web" / "test").iterdir()))]
        done = subprocess.run(command, cwd=checkout / "web", capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
