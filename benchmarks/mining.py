"""How fast the window is read: ours against a bare ``git log -p`` and against PyDriller.

    python benchmarks/mining.py                       a generated history, for any machine
    python benchmarks/mining.py REPOSITORY T0 T1      a real one (full hashes)

All contenders read the same commits in the same run; times are the best of ``--repeat`` runs, taken
in turn, with the processor seconds of all processes beside them: ours use several processors, and
a busy machine stretches them by more. PyDriller reads every ``--stride``-th commit once and its time
is scaled up. Goals: at most 1.3 times ``git log -p``, at least 30 times faster than PyDriller.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from probe.git.log import iter_diffs, iter_history, iter_window
from probe.git.process import git_command, git_environment, run_git
from probe.git.window import window_members
from probe.records import write_text

COMMITS = 2800
FILES = 150


def main() -> None:
    """Measure and print a table; ``--output`` also writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("t0", nargs="?")
    parser.add_argument("t1", nargs="?")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--stride", type=int, default=4)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.repository and not (options.t0 and options.t1):
        parser.error("a repository needs T0 and T1 (full hashes)")
    with tempfile.TemporaryDirectory(prefix="probe-mining-") as folder:
        if options.repository:
            source, t0, t1 = options.repository, options.t0, options.t1
        else:
            source, t0, t1 = generate(Path(folder) / "generated")
        # PyDriller wants a complete repository; everyone gets the same one.
        repository = Path(folder) / "clone"
        run_git(None, "clone", "--quiet", "--bare", str(source), str(repository))
        figures = measure(repository, t0, t1, options.repeat, options.stride)
    print(table(figures))
    if options.output:
        write_text(options.output, json.dumps(figures, indent=2) + "\n")


def measure(repository: Path, t0: str, t1: str, repeat: int, stride: int) -> dict[str, float]:
    """Seconds of each contender, and how many commits they read."""
    shas = [member.sha for member in window_members(repository, t0, t1)]
    contenders: dict[str, Callable[[], int]] = {
        "git_log_p": lambda: bare_log(repository, t0, t1),
        "one_pass": lambda: sum(1 for _ in iter_history(repository, t0, t1)),
        "window": lambda: sum(1 for _ in iter_window(repository, t0, t1)),
        "diffs": lambda: sum(1 for _ in iter_diffs(repository, shas)),
    }
    figures: dict[str, float] = {"commits": len(shas)}
    for _ in range(repeat):
        for name, contender in contenders.items():
            keep_best(figures, name, timed(contender, len(shas)), 1.0)
    sample = shas[::stride]
    scale = len(shas) / len(sample)
    keep_best(
        figures, "pydriller", timed(lambda: pydriller(repository, sample), len(sample)), scale
    )
    return {**figures, "pydriller_commits_read": len(sample)}


def keep_best(
    figures: dict[str, float], name: str, found: tuple[float, float], scale: float
) -> None:
    """Keep the shorter time and the fewer processor seconds of a contender."""
    for key, value in zip((name, f"{name}_cpu"), found, strict=True):
        figures[key] = min(figures.get(key, float("inf")), value * scale)


def timed(contender: Callable[[], int], expected: int) -> tuple[float, float]:
    """Seconds and processor seconds of a contender; it must read all commits expected."""
    busy, start = processor(), time.perf_counter()
    count = contender()
    elapsed = time.perf_counter() - start
    if count not in (expected, -1):
        sys.exit(f"expected {expected} commits, got {count}")
    return elapsed, processor() - busy


def processor() -> float:
    """Processor seconds of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def bare_log(repository: Path, t0: str, t1: str) -> int:
    """Let git print all diffs and drop them."""
    command = git_command(repository, "log", "-p", "--no-merges", f"{t0}..{t1}")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=git_environment())
    return -1


def pydriller(repository: Path, shas: list[str]) -> int:
    """Read paths, line counts and parsed diffs with PyDriller."""
    from pydriller import Git

    git = Git(str(repository))
    for sha in shas:
        for file in git.get_commit(sha).modified_files:
            _ = (file.old_path, file.new_path, file.change_type, file.added_lines)
            _ = (file.deleted_lines, file.diff_parsed)
    git.clear()
    return len(shas)


def table(figures: dict[str, float]) -> str:
    """The figures as Markdown, with ratios."""
    bare = figures["git_log_p"]
    names = {
        "git_log_p": "`git log -p`",
        "one_pass": "ours: commits and hunks in one pass",
        "window": "ours: commits with line counts",
        "diffs": "ours: hunks",
        "pydriller": f"PyDriller (scaled from {figures['pydriller_commits_read']:.0f} commits)",
    }
    rows = [
        f"{figures['commits']:.0f} commits",
        "",
        "| reader | seconds | × `git log -p` | × faster than PyDriller | processor seconds |",
        "|---|---|---|---|---|",
    ]
    for key, name in names.items():
        seconds = figures[key]
        rows.append(
            f"| {name} | {seconds:.2f} | {seconds / bare:.2f} | "
            f"{figures['pydriller'] / seconds:.1f} | {figures[key + '_cpu']:.2f} |"
        )
    return "\n".join(rows)


def generate(path: Path) -> tuple[Path, str, str]:
    """A history of about sqlglot's size; the same one every time."""
    run_git(None, "init", "--quiet", "--bare", "--initial-branch=main", str(path))
    chance = random.Random(20241231)
    files = {
        f"src/part{n % 12}/module{n}.py": [line(chance) for _ in range(chance.randint(50, 900))]
        for n in range(FILES)
    }
    parts = [commit(0, files, sorted(files))]
    for number in range(1, COMMITS + 1):
        touched = chance.sample(sorted(files), min(FILES, 1 + int(chance.expovariate(0.4))))
        for name in touched:
            edit(files[name], chance)
        parts.append(commit(number, files, sorted(touched)))
    run_git(path, "fast-import", "--quiet", stdin=b"".join(parts))
    shas = run_git(path, "rev-list", "--reverse", "main").decode().split()
    return path, shas[0], shas[-1]


def commit(number: int, files: dict[str, list[str]], touched: list[str]) -> bytes:
    """One commit for fast-import that writes the touched files."""
    seconds = 1_700_000_000 + number * 3600
    author = f"Ada Example <ada@example.org> {seconds} +0000"
    message = f"fix: correct case {number} (#{number})\n\nA body of two lines\nfor each commit.\n"
    parts = [f"commit refs/heads/main\nauthor {author}\ncommitter {author}\n", data(message)]
    parts += [f"M 100644 inline {name}\n{data(''.join(files[name]))}" for name in touched]
    return "".join(parts).encode()


def data(text: str) -> str:
    """A fast-import data block."""
    return f"data {len(text.encode())}\n{text}\n"


def line(chance: random.Random) -> str:
    """A line that looks like code; blank ones and closing brackets repeat, as they do in code."""
    kind = chance.random()
    if kind < 0.2:
        return "\n"
    if kind < 0.3:
        return "    )\n"
    return f"    value_{chance.randrange(400)} = compute({chance.randrange(10_000)}, key)\n"


def edit(lines: list[str], chance: random.Random) -> None:
    """Change, insert or delete a few runs of lines."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        length = chance.randint(1, 6)
        lines[at : at + chance.choice((0, length, length))] = [line(chance) for _ in range(length)]


if __name__ == "__main__":
    main()
