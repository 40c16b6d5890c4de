"""How fast and how alike presence at the snapshot is found: ours against PyDriller's SZZ.

    python benchmarks/reference.py                               generated histories, for any machine
    python benchmarks/reference.py REPOSITORY T0 T1              a real one (full hashes)
    python benchmarks/reference.py … --labels FOLDER --name o/r  also against a person's labels
    python benchmarks/reference.py --memory                      3,000 commits, a few of 50 MB

The fixes are those that the heuristic classifier finds (``--fixes`` of them, evenly spread, and all
labelled ones). Ours is the whole way from fix to verdict: extraction, recursive blame, anchoring,
counter-checks. PyDriller's is ``get_commits_last_modified_lines`` on the same production files: keep
where most of the named commits are the snapshot's ancestors; without any (a fix that only adds) it
has no verdict. ``git log -p`` of the same range in the same run is the measure of the machine.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from mining import bare_log, data, generate

from probe.code.paths import SourceScope
from probe.git.log import iter_diffs, iter_window
from probe.git.process import run_git
from probe.records import Candidate, Commit
from probe.reference.candidates import build_candidates
from probe.reference.classify import classify_window
from probe.reference.labels import read_label_rows
from probe.reference.score_presence import labels_of_dated_fixes, read_presence_labels

MOST = 1000
"""Fixes of which all candidates are made, at most: in the generated history all commits are some."""
HUGE = 4
"""Commits of 50 MB in the history that memory is measured on."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("t0", nargs="?")
    parser.add_argument("t1", nargs="?")
    parser.add_argument("--source", nargs="*", default=[], help="globs of production code")
    parser.add_argument("--tests", nargs="*", default=[], help="globs of tests")
    parser.add_argument("--fixes", type=int, default=60)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--name", default="", help="the repository's name in the labels")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--stage", choices=("window", "candidates"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        print(peak_of_stage(options.stage, options.repository, options.t0, options.t1))
        return
    with tempfile.TemporaryDirectory(prefix="probe-reference-") as folder:
        if options.memory:
            print(memory(Path(folder) / "huge"))
            return
        if options.repository:
            source, t0, t1 = options.repository, options.t0, options.t1
        else:
            source, t0, t1 = generate(Path(folder) / "generated")
        # PyDriller wants a complete repository; everyone gets the same one.
        clone = Path(folder) / "clone"
        run_git(None, "clone", "--quiet", "--bare", str(source), str(clone))
        scope = SourceScope(source=options.source, tests=options.tests)
        labels = read_labels(options.labels, options.name) if options.labels else {}
        print(compare(clone, t0, t1, scope, options.fixes, labels))
        if not options.repository:
            print("\n" + memory(Path(folder) / "huge"))


def compare(
    repository: Path, t0: str, t1: str, scope: SourceScope, count: int, labels: dict[str, str]
) -> str:
    """Times and verdicts of both ways, as Markdown."""
    start = time.perf_counter()
    bare_log(repository, t0, t1)
    bare = time.perf_counter() - start
    start = time.perf_counter()
    commits = list(iter_window(repository, t0, t1))
    diffs = iter_diffs(repository, [commit.sha for commit in commits])
    found = {item.commit for item in classify_window(commits, diffs, scope) if item.is_fix}
    fixes = [commit for commit in commits if commit.sha in found]
    mined = time.perf_counter() - start
    start = time.perf_counter()
    most = fixes[:: 1 + len(fixes) // MOST]
    everything, _ = build_candidates(repository, t0, t1, most, scope)
    whole = mined + time.perf_counter() - start
    chosen = fixes[:: max(1, len(fixes) // count)]
    chosen += [c for c in commits if c.sha in labels and c not in chosen]
    start = time.perf_counter()
    candidates, _ = build_candidates(repository, t0, t1, chosen, scope)
    ours_seconds = time.perf_counter() - start
    start = time.perf_counter()
    theirs = pydriller(repository, t0, chosen, scope)
    their_seconds = time.perf_counter() - start
    ours = dict.fromkeys(theirs, "DROP") | {c.commit: verdict(c) for c in candidates}
    lines = [
        f"{len(commits)} commits, {len(fixes)} fixes, {len(everything)} candidates",
        "",
        "| | seconds | × `git log -p` |",
        "|---|---|---|",
        f"| `git log -p` | {bare:.2f} | 1.00 |",
        f"| ours: window, classification, all candidates with presence | {whole:.2f} | {whole / bare:.1f} |",
        f"| ours: presence of {len(chosen)} fixes | {ours_seconds:.2f} | {ours_seconds / bare:.1f} |",
        f"| PyDriller: the same | {their_seconds:.2f} | {their_seconds / bare:.1f} |",
        "",
        f"Ours is {their_seconds / ours_seconds:.1f} times faster on these; "
        f"{their_seconds / len(chosen) * len(most) / max(0.001, whole - mined):.1f} times on "
        f"{len(most)}, as its one pass over the window costs the same for any number.",
        agreement(ours, theirs),
    ]
    if labels:
        lines += [against_labels("ours", ours, labels), against_labels("PyDriller", theirs, labels)]
    return "\n".join(lines)


def verdict(candidate: Candidate) -> str:
    """KEEP or DROP."""
    return "DROP" if candidate.lineage and candidate.lineage.ground else "KEEP"


def pydriller(
    repository: Path, t0: str, fixes: Sequence[Commit], scope: SourceScope
) -> dict[str, str]:
    """KEEP, DROP or ``none`` by the commits that last modified a fix's deleted lines."""
    from pydriller import Git

    git = Git(str(repository))
    old = set(run_git(repository, "rev-list", t0).decode().split())
    found = {}
    for fix in fixes:
        commit = git.get_commit(fix.sha)
        blamed: set[str] = set()
        for file in commit.modified_files:
            if file.old_path and scope.is_production(file.old_path):
                for shas in git.get_commits_last_modified_lines(commit, file).values():
                    blamed |= shas
        kept = sum(sha in old for sha in blamed)
        found[fix.sha] = "none" if not blamed else "KEEP" if 2 * kept >= len(blamed) else "DROP"
    git.clear()
    return found


def agreement(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """How often both say the same, and what each says where they do not."""
    judged = [sha for sha, said in theirs.items() if said != "none"]
    same = sum(ours[sha] == theirs[sha] for sha in judged)
    kept = sum(ours[sha] == "KEEP" and theirs[sha] == "DROP" for sha in judged)
    silent = len(theirs) - len(judged)
    return (
        f"Agreement on {same} of {len(judged)} fixes; ours keeps {kept} that PyDriller drops and "
        f"drops {len(judged) - same - kept} that it keeps; it has no verdict on {silent}."
    )


def against_labels(name: str, verdicts: dict[str, str], labels: dict[str, str]) -> str:
    """How many labelled verdicts are met; no verdict is a miss."""
    known = [sha for sha in labels if sha in verdicts]
    return f"{name}: {sum(verdicts[s] == labels[s] for s in known)} of {len(known)} labels met"


def read_labels(folder: Path, name: str) -> dict[str, str]:
    """KEEP or DROP of one repository's commits: both label files."""
    rows = read_label_rows(
        folder / "commits.tsv",
        ("repo", "sha", "is_bug_fix", "present_at_T0", "confidence", "reason"),
    )
    dated = labels_of_dated_fixes(row for _, row in rows)
    labels = [*read_presence_labels(folder / "presence.tsv"), *dated]
    return {
        label.sha: label.expected
        for label in labels
        if label.repo == name and label.expected in {"KEEP", "DROP"}
    }


def memory(path: Path) -> str:
    """Peak memory of both stages, each in a process of its own."""
    t0, t1 = generate_huge(path)
    lines = ["| stage | our peak, MB |", "|---|---|"]
    for stage in ("window", "candidates"):
        command = [sys.executable, __file__, str(path), t0, t1, "--stage", stage]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        lines.append(f"| {stage} | {told.strip()} |")
    return "\n".join(lines)


def peak_of_stage(stage: str, repository: Path, t0: str, t1: str) -> str:
    """Run one stage; the peak memory of this process in MB.

    From /proc, since the peak that getrusage tells is the parent's at the start.
    """
    if stage == "window":
        for _ in iter_window(repository, t0, t1):
            pass
    else:
        fixes = [c for c in iter_window(repository, t0, t1) if c.subject.startswith("fix")]
        build_candidates(repository, t0, t1, fixes, SourceScope())
    status = Path("/proc/self/status").read_text().split("VmHWM:", 1)[1]
    return f"{int(status.split()[0]) / 1024:.0f}"


def generate_huge(
    path: Path, commits: int = 3000, huge: int = HUGE, size: int = 25
) -> tuple[str, str]:
    """A history with a few commits that rewrite ``size`` MB of code, so that the diff has twice that."""
    run_git(None, "init", "--quiet", "--bare", "--initial-branch=main", str(path))
    chance = random.Random(7)
    code = [f"value_{n} = compute({n})\n" for n in range(400)]
    every = commits // (huge + 1)
    parts = []
    for number in range(commits + 1):
        files = {"src/code.py": "".join(code)}
        if number % every == 0:
            length = size * 1_000_000 // 50
            files["src/table.py"] = "".join(
                f"row_{n} = ({number}, {chance.randrange(10**12):012}, 'filler')\n"
                for n in range(length)
            )
            files["dist/bundle.js"] = f"x={number};" + "y" * 5_000_000 + "\n"
        code[chance.randrange(len(code))] = f"changed_{number} = compute({number})\n"
        parts.append(commit_text(number, files))
    with subprocess.Popen(
        ["git", f"--git-dir={path}", "fast-import", "--quiet"], stdin=subprocess.PIPE
    ) as git:
        for part in parts:
            git.stdin.write(part)  # type: ignore[union-attr]
    shas = run_git(path, "rev-list", "--reverse", "main").decode().split()
    return shas[0], shas[-1]


def commit_text(number: int, files: dict[str, str]) -> bytes:
    """One commit for fast-import."""
    author = f"Ada Example <ada@example.org> {1_700_000_000 + number * 3600} +0000"
    head = f"commit refs/heads/main\nauthor {author}\ncommitter {author}\n"
    written = "".join(f"M 100644 inline {name}\n{data(text)}" for name, text in files.items())
    return (head + data(f"fix: case {number}\n") + written).encode()


if __name__ == "__main__":
    main()
