"""Known traps of large trees: monorepos, bundles beside sources, commits that touch everything."""

import os
import shutil
import tracemalloc
from pathlib import Path

import pytest
from mined import CLAMP_WRONG, CLAMPED, FIRST_RIGHT, FIRST_WRONG, LISTS, SCOPE, begin, mine, place

from probe.code.paths import SourceScope
from probe.git.log import iter_diffs
from probe.git.objects import ObjectReader
from probe.reference.extract import Extracted, extract

ANYWHERE = SourceScope()
PACKAGES = {
    "packages/core/src/lists.py": LISTS,
    "packages/core/dist/lists.py": LISTS,
    "packages/core/test/test_lists.py": "def test_first():\n    assert first([1]) == 1\n",
    "packages/site/docs/guide.md": "# Guide\n",
    "packages/core/package.json": '{"version": "1.0"}\n',
}


@pytest.mark.parametrize(
    "scope",
    [ANYWHERE, SourceScope(source=["packages/*/src/"]), SourceScope(source=["packages/"])],
    ids=["no globs", "globs of sources", "globs of packages"],
)
def test_in_a_monorepo_each_package_has_sources_tests_and_output(
    tmp_path: Path, scope: SourceScope
) -> None:
    """What a package's build writes is none of its sources, though it changes with them."""
    history, t0 = begin(tmp_path, PACKAGES)
    fix = history.commit(
        {"packages/core/src/lists.py": CLAMPED, "packages/core/dist/lists.py": CLAMPED},
        "fix(core): clamp returns the wrong bound",
    )
    both = CLAMPED.replace(FIRST_WRONG, FIRST_RIGHT)
    history.commit({"packages/core/dist/lists.py": both}, "fix(core): rebuild")
    history.commit({"packages/core/test/test_lists.py": "\n"}, "fix(core): flaky test")
    history.commit({"packages/site/docs/guide.md": "# The guide\n"}, "fix(site): heading")
    history.commit({"packages/core/package.json": '{"version": "1.1"}\n'}, "fix(core): version")
    mined = mine(history, t0, scope)
    assert mined.fixes == [fix]
    (bug,) = mined.bugs
    assert bug.primary == place("packages/core/src/lists.py", LISTS, CLAMP_WRONG)
    assert bug.others == ()


SCRIPT = "export function first(items) {\n  return items[0].name;\n}\n"
SAFE = SCRIPT.replace("items[0].name", "items[0]?.name")
BUNDLE = "function first(i){return i[0].name}export{first};\n"
SAFE_BUNDLE = "function first(i){return i[0]?.name}export{first};\n"


@pytest.mark.parametrize(
    "output",
    ["dist/index.js", "src/index.min.js", "build/index.js", "lib.bundle.js", "src/app.bundle.js"],
)
@pytest.mark.parametrize("scope", [ANYWHERE, SourceScope(source=["src/"])], ids=["none", "src"])
def test_a_bundle_in_the_tree_is_output_of_the_fix_and_no_place_of_the_bug(
    tmp_path: Path, output: str, scope: SourceScope
) -> None:
    history, t0 = begin(tmp_path, {"src/index.js": SCRIPT, output: BUNDLE})
    fix = history.commit(
        {"src/index.js": SAFE, output: SAFE_BUNDLE}, "fix: first of an empty list throws"
    )
    history.commit({output: SAFE_BUNDLE + "// built\nfirst([]);\n"}, "fix: rebuild the bundle")
    mined = mine(history, t0, scope)
    assert mined.fixes == [fix]
    (bug,) = mined.bugs
    assert {bug.primary.path, *(other.path for other in bug.others)} == {"src/index.js"}


MANY = 2000


def test_a_small_fix_inside_a_commit_of_two_thousand_files_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header is changed everywhere; one line in the middle corrects wrong behaviour."""
    old = {f"pkg/m{n:04}.py": f"# 2024\nVALUE = {n}\n" for n in range(MANY)}
    history, t0 = begin(tmp_path, {**old, "pkg/m1000_lists.py": LISTS})
    new = {path: text.replace("2024", "2025") for path, text in old.items()}
    files = {**new, "pkg/m1000_lists.py": CLAMPED}
    fix = history.commit(files, "fix: wrong bound of clamp, and a new year everywhere")
    started = count_gits(tmp_path, monkeypatch)
    mined = mine(history, t0)
    assert mined.fixes == [fix]
    assert mined.candidates[fix].faulty_lines == 1
    (bug,) = mined.bugs
    assert bug.primary == place("pkg/m1000_lists.py", LISTS, CLAMP_WRONG)
    assert 0 < len(started.read_text().splitlines()) < 30


def count_gits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let each start of git from now on add a line to a file."""
    started, wrapper = folder / "started", folder / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\necho >> '{started}'\nexec '{shutil.which('git')}' \"$@\"\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    return started


def test_memory_does_not_grow_with_what_a_formatter_run_lays_out_anew(tmp_path: Path) -> None:
    """4,000 such lines stand in one diff with the repair, and their tokens would take megabytes."""
    body = "".join(f"def f{n}(a):\n    return  call(a, 'x{n}')\n" for n in range(100))
    old = {f"pkg/m{n:03}.py": body for n in range(40)}
    history, t0 = begin(tmp_path, {**old, "pkg/z.py": LISTS})
    clean = body.replace("return  ", "return ").replace("'", '"')
    fix = history.commit({**dict.fromkeys(old, clean), "pkg/z.py": CLAMPED}, "fix: clamp")
    (diff,) = iter_diffs(history.path, [fix])
    with ObjectReader(history.path) as reader:
        tracemalloc.start()
        try:
            found = extract(diff, t0, SCOPE, reader.read)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert isinstance(found, Extracted)
    assert found.parent_locations() == (place("pkg/z.py", LISTS, CLAMP_WRONG),)
    assert peak < 4_000_000
